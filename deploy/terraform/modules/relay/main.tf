data "aws_eks_cluster" "this" {
  name = var.cluster
}

locals {
  vpc = data.aws_eks_cluster.this.vpc_config[0]
  # EKS wants two subnets at least, in two zones.
  subnets = sort(local.vpc.subnet_ids)

  # As package relay names it: Lambda's names have 64 characters at most, a cluster's 100.
  long     = "${var.name_prefix}-relay-${var.cluster}"
  function = length(local.long) <= 64 ? local.long : "${substr(local.long, 0, 55)}-${substr(sha256(var.cluster), 0, 8)}"
}

resource "aws_cloudformation_stack" "this" {
  # A cluster's name may have a low line, a stack's may not.
  name          = replace(local.function, "_", "-")
  template_body = file("${path.module}/../../../../infra/RollcallRelay.template.json")
  capabilities  = ["CAPABILITY_IAM"]
  iam_role_arn  = var.iam_role_arn
  tags          = var.tags

  parameters = {
    FunctionName         = local.function
    ClusterArn           = data.aws_eks_cluster.this.arn
    ClusterEndpoint      = data.aws_eks_cluster.this.endpoint
    ClusterAuthority     = data.aws_eks_cluster.this.certificate_authority[0].data
    ClusterSecurityGroup = local.vpc.cluster_security_group_id
    VpcId                = local.vpc.vpc_id
    SubnetA              = local.subnets[0]
    SubnetB              = local.subnets[1]
    CodeBucket           = var.code_bucket
    CodeKey              = "${var.code_prefix}relay.zip"
    PermissionsBoundary  = var.permissions_boundary
    RolePath             = var.role_path
  }

  lifecycle {
    precondition {
      condition     = local.vpc.endpoint_private_access
      error_message = "The cluster's API has no private endpoint, and a relay needs it: set endpoint_private_access = true in the vpc_config of its aws_eks_cluster."
    }
    precondition {
      condition     = !local.vpc.endpoint_public_access || !contains(local.vpc.public_access_cidrs, "0.0.0.0/0")
      error_message = "The cluster's API has a public endpoint that is open to all: Rollcall reads it without a relay."
    }
  }
}
