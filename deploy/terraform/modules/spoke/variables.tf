variable "hub_account" {
  description = "The account of Rollcall's hub"
  type        = string
}

variable "hub_region" {
  description = "The region of Rollcall's hub"
  type        = string
}

variable "external_id" {
  description = "The hub's setting externalId"
  type        = string
}

variable "stack_name" {
  description = "Name of the spoke's stack."
  type        = string
  default     = "rollcall-spoke"
}

variable "template" {
  description = "File of the spoke's template, if not the one of this repository: for a spoke whose clusters opted in to remedies or to cleanup, the one that \"make spoke-template\" writes."
  type        = string
  default     = null
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
