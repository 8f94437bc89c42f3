output "reader_role_arn" {
  description = "The role that reads the clusters: the module cluster gives it access."
  value       = aws_cloudformation_stack.this.outputs["ReaderRoleArn"]
}

output "slack_secret_arn" {
  description = "The secret that holds the Slack bot token."
  value       = aws_cloudformation_stack.this.outputs["SlackSecretArn"]
}

output "slack_secret_command" {
  description = "The command that stores the Slack bot token, read from the terminal; null where the secret is your own. Stored this way, the token is not in Terraform's state."
  value       = lookup(aws_cloudformation_stack.this.outputs, "SlackSecretCommand", null)
}

output "slack_interactivity_url" {
  description = "The request URL for the Slack app's buttons; null where slack_actions is off."
  value       = lookup(aws_cloudformation_stack.this.outputs, "SlackInteractivityUrl", null)
}

output "outputs" {
  description = "All outputs of the stack."
  value       = aws_cloudformation_stack.this.outputs
}

output "code_bucket" {
  description = "The bucket that holds the functions: relays are deployed from it too."
  value       = local.code_bucket
}

output "code_prefix" {
  description = "What the keys of the functions begin with."
  value       = local.code_prefix
}

output "stack_id" {
  description = "The id of the stack."
  value       = aws_cloudformation_stack.this.id
}
