package spectest

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
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
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
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
