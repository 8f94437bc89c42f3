# The hub. Its resources are those of the published template, so that there is one source of
# them; a plan shows the stack's parameters, and not each resource.
module "code" {
  source = "./modules/code"
  count  = var.release == null ? 0 : 1

  release = var.release
  bucket  = var.code_bucket
  tags    = var.tags
}

locals {
  code_bucket  = var.release == null ? var.code_bucket : module.code[0].bucket
  code_prefix  = var.release == null ? var.code_prefix : module.code[0].prefix
  template_key = var.release == null ? "${var.code_prefix}RollcallStandard.template.json" : module.code[0].template_key
}

data "aws_region" "current" {}

data "aws_partition" "current" {}

resource "aws_cloudformation_stack" "this" {
  name         = local.stack_name
  template_url = "https://${local.code_bucket}.s3.${data.aws_region.current.region}.${data.aws_partition.current.dns_suffix}/${local.template_key}"
  capabilities = ["CAPABILITY_NAMED_IAM"] # access entries refer to the reader's role by its name
  iam_role_arn = var.iam_role_arn
  tags         = var.tags
  parameters   = local.parameters

  lifecycle {
    precondition {
      condition     = var.release != null || var.code_bucket != null
      error_message = "No functions to deploy: set release to the folder of an unpacked release, or code_bucket and code_prefix to where its functions are."
    }
  }
}
