output "spoke" {
  description = "The spoke as the hub's variable spokes takes it: account/region."
  value       = "${data.aws_caller_identity.current.account_id}/${data.aws_region.current.region}"
}

output "reader_role_arn" {
  description = "The role that reads the spoke's clusters: the module cluster gives it access."
  value       = "arn:${data.aws_partition.current.partition}:iam::${data.aws_caller_identity.current.account_id}:role/rollcall-reader-${data.aws_region.current.region}"
  depends_on  = [aws_cloudformation_stack.this]
}

output "stack_id" {
  description = "The id of the stack."
  value       = aws_cloudformation_stack.this.id
}
