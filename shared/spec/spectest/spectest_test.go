package spectest

import (
	"context"
	"testing"

	"rollcall/tools/expect"
)

type reads interface {
	DescribeSubnets(context.Context) error
	DescribeInstances(context.Context) error
}

type oddNames interface {
	SendMessage(context.Context) error
	SendMessageBatch(context.Context) error
}

type free interface{ GetCallerIdentity(context.Context) error }

func TestActions(t *testing.T) {
	for _, test := range []struct {
		name      string
		got, want []string
	}{
		{"the methods are the actions", Actions[reads]("ec2"), []string{"ec2:DescribeInstances", "ec2:DescribeSubnets"}},
		{"a batch needs the single permission", Actions[oddNames]("sqs"), []string{"sqs:SendMessage"}},
		{"some calls need none", Actions[free]("sts"), []string{}},
	} {
		expect.Same(t, test.name, test.got, test.want)
	}
}

func TestActionsNeedsAnInterface(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("Actions[int] did not panic")
		}
	}()
	Actions[int]("ec2")
}
