output "function" {
  description = "The name of the relay's function."
  value       = local.function
}

output "stack_id" {
  description = "The id of the stack."
  value       = aws_cloudformation_stack.this.id
}
