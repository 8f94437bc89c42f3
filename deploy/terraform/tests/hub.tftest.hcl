# What a plan of the hub says, and what it refuses. make test-terraform runs it.
variables {
  release = "./tests/release"
}

run "only_a_channel" {
  command = plan

  variables {
    slack_channel = "C0123456789"
  }

  assert {
    condition     = aws_cloudformation_stack.this.parameters.SlackChannel == "C0123456789" && aws_cloudformation_stack.this.parameters.Clusters == "all"
    error_message = "The channel alone must watch all clusters."
  }

  assert {
    condition     = alltrue([for name in ["AddNatRouteClusters", "ReplaceInstanceClusters", "DeleteInterfacesClusters", "TargetSecrets", "SpokeReaderRoles"] : aws_cloudformation_stack.this.parameters[name] == ""])
    error_message = "Nothing may be changed that nobody opted in to."
  }
}

run "remedies_of_one_cluster" {
  command = plan

  variables {
    slack_channel = "C0123456789"
    remedies      = "prod=approve,prod/replace-instance=off,222233334444/eu-west-1/prod/replace-instance=auto"
    spokes        = "222233334444/eu-west-1=payments"
    external_id   = "rollcall-7f3a"
  }

  assert {
    condition     = aws_cloudformation_stack.this.parameters.ReplaceInstanceClusters == ""
    error_message = "What is off for prod, and what a spoke opted in to, is nothing of the hub's own clusters."
  }

  assert {
    condition     = aws_cloudformation_stack.this.parameters.CoverZonesClusters == "prod"
    error_message = "prod opted in to all remedies but one."
  }

  assert {
    condition     = aws_cloudformation_stack.this.parameters.SpokeRemediatorRoles == "arn:aws:iam::222233334444:role/rollcall-remediator-eu-west-1"
    error_message = "The spoke's cluster opted in to a remedy."
  }
}

run "a_channel_that_is_none" {
  command = plan

  variables {
    slack_channel = "#alerts"
  }

  expect_failures = [var.slack_channel]
}

run "no_functions" {
  command = plan

  variables {
    slack_channel = "C0123456789"
    release       = null
  }

  expect_failures = [aws_cloudformation_stack.this]
}
