# The spoke's template is small enough to be handed over as it is (51,200 bytes at most).
resource "aws_cloudformation_stack" "this" {
  name          = var.stack_name
  template_body = file(coalesce(var.template, "${path.module}/../../../../infra/RollcallSpoke.template.json"))
  capabilities  = ["CAPABILITY_NAMED_IAM"] # access entries refer to the reader's role by its name
  iam_role_arn  = var.iam_role_arn
  tags          = var.tags

  parameters = {
    HubAccount = var.hub_account
    HubRegion  = var.hub_region
    ExternalId = var.external_id
  }
}

data "aws_caller_identity" "current" {}

data "aws_partition" "current" {}

data "aws_region" "current" {}
