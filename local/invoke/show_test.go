package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rollcall/local/platform/wire"
)

func TestTable(t *testing.T) {
	got := table([]wire.Call{
		{Service: "ec2", Operation: "DescribeSubnets", Status: 200},
		{Service: "eventbridge", Operation: "PutEvents", Status: 200},
		{Service: "ec2", Operation: "DescribeRouteTables", Status: 403, Code: "UnauthorizedOperation"},
		{Service: "ec2", Operation: "DescribeSubnets", Status: 503, Code: "RequestLimitExceeded"},
		{Service: "ec2", Operation: "DescribeSubnets", Status: 503, Code: "RequestLimitExceeded"},
		{Service: "ec2", Operation: "DescribeSubnets"},
	})
	want := `     1  ec2:DescribeRouteTables  1 × UnauthorizedOperation
     4  ec2:DescribeSubnets      2 × RequestLimitExceeded, 1 × connection reset
     1  events:PutEvents
`
	if d := cmp.Diff(got, want); d != "" {
		t.Errorf("table (got -, want +):\n%s", d)
	}
	if got := table(nil); got != "" {
		t.Errorf("without calls: got %q, want nothing", got)
	}
}

func TestIndent(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"object": {`{"a":["<→>"]}`, "  {\n    \"a\": [\n      \"<→>\"\n    ]\n  }"},
		"text":   {"not JSON", "  not JSON"},
		"empty":  {"", "  "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := indent(tt.text); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
