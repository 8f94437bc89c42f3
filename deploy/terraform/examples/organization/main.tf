# An organization: the hub in one account, a spoke in another, both by roles that the
# credentials may assume.
terraform {
  required_version = ">= 1.6"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 6.0"
    }
    kubernetes = {
      source  = "hashicorp/kubernetes"
      version = ">= 2.35, < 4.0"
    }
  }
}

provider "aws" {
  region = "us-west-2"

  assume_role {
    role_arn = "arn:aws:iam::111122223333:role/deploy"
  }
}

provider "aws" {
  alias  = "payments"
  region = "eu-west-1"

  assume_role {
    role_arn = "arn:aws:iam::222233334444:role/deploy"
  }
}

provider "kubernetes" {
  alias          = "payments"
  config_path    = "~/.kube/config"
  config_context = "payments-prod"
}

variable "release" {
  description = "Folder of an unpacked release."
  type        = string
  default     = "./rollcall_0.1.0"
}

variable "external_id" {
  description = "Any text of eight characters or more, the same in the hub and its spokes. Not a secret."
  type        = string
  default     = "rollcall-7f3a"
}

module "rollcall" {
  source = "../.."

  release       = var.release
  slack_channel = "C0123456789"
  spokes        = "222233334444/eu-west-1=payments"
  external_id   = var.external_id
}

# The hub first: it has the bus to which the spoke forwards.
module "payments" {
  source     = "../../modules/spoke"
  providers  = { aws = aws.payments }
  depends_on = [module.rollcall]

  hub_account = "111122223333"
  hub_region  = "us-west-2"
  external_id = var.external_id
}

module "payments_prod" {
  source    = "../../modules/cluster"
  providers = { aws = aws.payments, kubernetes = kubernetes.payments }

  cluster         = "prod"
  reader_role_arn = module.payments.reader_role_arn
}
