output "bucket" {
  description = "The bucket that holds the functions."
  value       = local.bucket
  depends_on  = [aws_s3_object.functions]
}

output "prefix" {
  description = "What the keys of the functions begin with."
  value       = local.prefix
  depends_on  = [aws_s3_object.functions]
}

output "template_key" {
  description = "The key of the hub's template, null where the release has none."
  value       = one(aws_s3_object.template[*].key)
}
