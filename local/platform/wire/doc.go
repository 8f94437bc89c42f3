// Package wire speaks the AWS wire protocols from the server's side: EC2 and
// AWS query with XML answers, AWS JSON 1.0 and 1.1, and REST-JSON. A handler is
// one typed Go function over the SDK's own Input and Output structs:
//
//	wire.Handle(s, "ec2", "DescribeRouteTables", func(ctx context.Context, call *wire.Call,
//		in *ec2.DescribeRouteTablesInput) (*ec2.DescribeRouteTablesOutput, error) { ... })
//
// The package simulates nothing. What is behind an operation is the handler's
// business; what the package does itself is what every AWS service does before
// a handler runs: look at the signature's credential scope, find the operation,
// read the parameters, and write answers and errors in the protocol's own form.
package wire

//go:generate go run ./gen
