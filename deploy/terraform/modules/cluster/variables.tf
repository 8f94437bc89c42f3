variable "cluster" {
  description = "Name of the cluster."
  type        = string
}

variable "reader_role_arn" {
  description = "The role that reads the cluster: the output reader_role_arn of the hub, or of the spoke."
  type        = string
}

variable "access_entry" {
  description = "Whether to create the access entry. Leave it false where the hub's stack creates it (its variable access_clusters), and in a cluster of authentication mode CONFIG_MAP, where EKS refuses access entries."
  type        = bool
  default     = true
}

variable "tags" {
  description = "Tags of the access entry."
  type        = map(string)
  default     = {}
}
