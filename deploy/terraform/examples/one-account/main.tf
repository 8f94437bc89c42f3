# One account and region: two clusters, one of which has a private endpoint only.
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
}

# Each cluster has a provider of its own; here by the contexts of a kubeconfig.
provider "kubernetes" {
  alias          = "prod"
  config_path    = "~/.kube/config"
  config_context = "prod"
}

variable "release" {
  description = "Folder of an unpacked release."
  type        = string
  default     = "./rollcall_0.1.0"
}

module "rollcall" {
  source = "../.."

  release       = var.release
  slack_channel = "C0123456789"
  clusters      = "prod,private"
  relays        = "private"

  tags = {
    "cost-center" = "1234"
  }
}

module "prod" {
  source    = "../../modules/cluster"
  providers = { kubernetes = kubernetes.prod }

  cluster         = "prod"
  reader_role_arn = module.rollcall.reader_role_arn
}

module "private" {
  source = "../../modules/relay"

  cluster     = "private"
  code_bucket = module.rollcall.code_bucket
  code_prefix = module.rollcall.code_prefix
}

output "slack_secret_command" {
  description = "Run it once: it stores the Slack bot token, which so stays out of Terraform's state."
  value       = module.rollcall.slack_secret_command
}
