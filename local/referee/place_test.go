package referee

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"rollcall/local/stage"
)

// place is an AWS that is asked.
type place struct {
	name        string
	ec2         *ec2.Client
	autoscaling *autoscaling.Client
	eks         *eks.Client
	iam         *iam.Client
	secrets     *secretsmanager.Client
	sqs         *sqs.Client
	sts         *sts.Client
	// as are the clients of somebody with another key.
	as func(key, secret string) *place
	// key is who asks.
	key func(context.Context) (string, error)
	// things are there for the questions that write, nil where there are none.
	things *things
}

// things are the few that the questions that write are about.
type things struct{ vpc, subnet, table, nat, gateway, secret, queue string }

func newPlace(name string, cfg aws.Config) *place {
	return &place{
		name: name, ec2: ec2.NewFromConfig(cfg), autoscaling: autoscaling.NewFromConfig(cfg), eks: eks.NewFromConfig(cfg), iam: iam.NewFromConfig(cfg),
		secrets: secretsmanager.NewFromConfig(cfg), sqs: sqs.NewFromConfig(cfg), sts: sts.NewFromConfig(cfg),
		as: func(key, secret string) *place {
			other := cfg.Copy()
			other.Credentials = credentials.NewStaticCredentialsProvider(key, secret, "")
			return newPlace(name, other)
		},
		key: func(ctx context.Context) (string, error) {
			c, err := cfg.Credentials.Retrieve(ctx)
			return c.AccessKeyID, err
		},
	}
}

// question is asked of each place, in this order: an answer may depend on those
// before.
type question struct {
	name string
	// writes tells that asking changes something.
	writes bool
	ask    func(ctx context.Context, p *place) (string, error)
	// want is AWS's answer. moto and stage are known other answers of theirs;
	// why says how we know that AWS's is another.
	want, moto, stage, why string
}

// absent is behind the prefix of ids that nothing has.
const absent = "0123456789abcdef0"

// answerOf is what a place answers: a text, or the code of an error; "broken"
// where it has neither.
func answerOf(ctx context.Context, q question, p *place) (answer string, err error) {
	got, err := q.ask(ctx, p)
	if err == nil {
		return got, nil
	}
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode(), err
	}
	var response *smithyhttp.ResponseError
	if errors.As(err, &response) && response.HTTPStatusCode() >= 500 {
		return "broken", err
	}
	return "no answer: " + err.Error(), err
}

// startStage is the stage with the world of the route story. No function runs
// in it.
func startStage(t *testing.T) (*stage.Stage, *things) {
	t.Helper()
	s, err := stage.Start(t.Context(), stage.Options{World: "../worlds/route.yaml", Template: "../../infra/Rollcall.template.json", Quiet: true})
	if err != nil {
		t.Fatalf("start the stage: %v", err)
	}
	t.Cleanup(s.Close)
	made := &things{
		vpc: "vpc-0a1b2c3d4e5f60718", subnet: "subnet-0c30000000000000d", table: "rtb-0cd20000000000002", nat: "nat-0aa40000000000001", gateway: "igw-0d40000000000000e",
		secret: s.Template.Secrets[len(s.Template.Secrets)-1].Name,
	}
	for _, q := range s.Template.Queues {
		if !q.FIFO && q.Delay == 0 && q.DeadLetterARN != "" {
			made.queue = q.URL
		}
	}
	return s, made
}

// TestReadsOnTheStage asks the stage everything that reads, through clients
// that send nothing else: so the questions for a real account are what they
// are said to be, and the stage answers as AWS.
func TestReadsOnTheStage(t *testing.T) {
	s, _ := startStage(t)
	p := newPlace("stage", readOnly(s.AsAdmin()))
	for _, q := range questions() {
		if q.writes {
			continue
		}
		t.Run(q.name, func(t *testing.T) {
			got, err := answerOf(t.Context(), q, p)
			want := q.want
			if q.stage != "" {
				want = q.stage
			}
			if got != want {
				t.Errorf("got %q, want %q (%v)", got, want, err)
			}
		})
	}
}

// TestWritesAreMarked: a question that writes does not get through such
// clients, which is how one that is not marked would be found.
func TestWritesAreMarked(t *testing.T) {
	s, made := startStage(t)
	p := newPlace("stage", readOnly(s.AsAdmin()))
	p.things = made
	refused := 0
	for _, q := range questions() {
		if q.writes {
			var write *WriteError
			if _, err := answerOf(t.Context(), q, p); errors.As(err, &write) {
				refused++
			}
		}
	}
	if refused == 0 {
		t.Error("no question writes")
	}
	for _, q := range questions() {
		if (q.moto+q.stage != "") != (q.why != "") {
			t.Errorf("%s: another answer %q with the reason %q, want both or none", q.name, q.moto+q.stage, q.why)
		}
	}
}
