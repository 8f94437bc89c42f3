# A relay is for a cluster with a private endpoint only. make test-terraform runs it.
variables {
  code_bucket = "rollcall-code"
  code_prefix = "rollcall/v0.1.0/"
}

run "private" {
  command = plan

  variables {
    cluster = "private_one"
  }

  assert {
    condition     = aws_cloudformation_stack.this.name == "rollcall-relay-private-one" && output.function == "rollcall-relay-private_one"
    error_message = "A stack's name has no low line, the function's has it."
  }

  assert {
    condition     = aws_cloudformation_stack.this.parameters.SubnetA != aws_cloudformation_stack.this.parameters.SubnetB
    error_message = "The relay needs two subnets."
  }
}

run "public" {
  command = plan

  variables {
    cluster = "public"
  }

  expect_failures = [aws_cloudformation_stack.this]
}

run "without_a_private_endpoint" {
  command = plan

  variables {
    cluster = "closed"
  }

  expect_failures = [aws_cloudformation_stack.this]
}

run "the_longest_name" {
  command = plan

  variables {
    cluster = "private-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789-0123456789"
  }

  assert {
    condition     = length(output.function) == 64
    error_message = "Lambda's names have 64 characters."
  }
}
