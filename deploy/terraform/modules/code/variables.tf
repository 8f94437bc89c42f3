variable "release" {
  description = "Folder of an unpacked release: its functions are uploaded as they are."
  type        = string
}

variable "bucket" {
  description = "Name of an existing bucket of this region that takes the functions. If null, a private one is created."
  type        = string
  default     = null
}

variable "functions" {
  description = "The functions to upload. If null, all of the release."
  type        = set(string)
  default     = null
}

variable "tags" {
  description = "Tags of the bucket."
  type        = map(string)
  default     = {}
}
