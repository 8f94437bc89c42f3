variable "cluster" {
  description = "Name of the cluster, whose API has a private endpoint only."
  type        = string
}

variable "code_bucket" {
  description = "Bucket in this region that holds the relay's program, from the hub's release"
  type        = string
}

variable "code_prefix" {
  description = "What the key of the relay's program begins with: relay.zip follows."
  type        = string
}

variable "name_prefix" {
  description = "Name of the hub's stack in lower case."
  type        = string
  default     = "rollcall"
}

variable "permissions_boundary" {
  description = "ARN of a managed policy that the relay's role gets as its permissions boundary, if your organization requires one: a policy of this account or of AWS. It must allow what docs/permissions.md lists for the relay."
  type        = string
  default     = ""
}

variable "role_path" {
  description = "Path of the relay's role, like /teams/platform/, if your organization allows roles only under a path."
  type        = string
  default     = "/"
}

variable "iam_role_arn" {
  description = "ARN of the role with which CloudFormation creates the stack's resources. If null, it uses the credentials that run Terraform."
  type        = string
  default     = null
}

variable "tags" {
  description = "Tags of the stack. CloudFormation passes them on to the resources that accept tags."
  type        = map(string)
  default     = {}
}
