output "group" {
  description = "The Kubernetes group to which the rights are bound."
  value       = local.group
}
