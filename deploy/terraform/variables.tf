variable "release" {
  description = "Folder of an unpacked release, whose functions are uploaded. If null, they are already in code_bucket under code_prefix, with the template."
  type        = string
  default     = null
}

variable "code_bucket" {
  description = "Bucket of this region for the functions. If null, a private one is created for the release."
  type        = string
  default     = null
}

variable "code_prefix" {
  description = "Start of the keys of the functions and of RollcallStandard.template.json in code_bucket, with a slash at its end; only without release, which has one of its own."
  type        = string
  default     = ""
}

variable "stack_name" {
  description = "Name of the stack. In lower case it is the start of the names of functions, queues and roles."
  type        = string
  default     = "Rollcall"
}

variable "settings_file" {
  description = "Settings file (deploy/rollcall.yaml has every setting). What it says counts over the variables."
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
