package referee

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"rollcall/stage"
	"rollcall/tools/expect"
)

func TestEndpoints(t *testing.T) {
	for text, want := range map[string]Endpoint{
		"moto":                                {Name: "moto", Local: true},
		"aws":                                 {Name: "aws"},
		"https://127.0.0.1:9297":              {Name: "127.0.0.1", URL: "https://127.0.0.1:9297", Local: true},
		"http://[::1]:5000":                   {Name: "::1", URL: "http://[::1]:5000", Local: true},
		"http://localhost:4566/":              {Name: "localhost", URL: "http://localhost:4566/", Local: true},
		"https://ec2.eu-west-1.amazonaws.com": {Name: "ec2.eu-west-1.amazonaws.com", URL: "https://ec2.eu-west-1.amazonaws.com"},
		"https://192.168.1.7:5000":            {Name: "192.168.1.7", URL: "https://192.168.1.7:5000"},
		"http://127.0.0.1.example.com":        {Name: "127.0.0.1.example.com", URL: "http://127.0.0.1.example.com"},
	} {
		got, err := ParseEndpoint(text)
		if err != nil || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "127.0.0.1:5000", "ftp://127.0.0.1", "amazon", "https://"} {
		if got, err := ParseEndpoint(text); err == nil {
			t.Errorf("%q: got %+v, want an error", text, got)
		}
	}
}

func TestWhereQuestionsMayWrite(t *testing.T) {
	type answer struct{ May, Refused bool }
	for _, test := range []struct {
		local, wanted bool
		want          answer
	}{
		{true, true, answer{May: true}}, {true, false, answer{}}, {false, false, answer{}}, {false, true, answer{Refused: true}},
	} {
		may, err := Endpoint{Name: "x", Local: test.local}.MayWrite(test.wanted)
		expect.Same(t, fmt.Sprintf("local %t, wanted %t", test.local, test.wanted), answer{may, err != nil}, test.want)
	}
}

// TestOnlyReadsAreSent: what is no read never leaves a client.
func TestOnlyReadsAreSent(t *testing.T) {
	sent := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { sent++; w.WriteHeader(http.StatusBadRequest) }))
	defer server.Close()
	cfg := readOnly(aws.Config{
		Region: "us-west-2", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("AKIDTEST", "secret", ""),
		Retryer: func() aws.Retryer { return aws.NopRetryer{} },
	})
	_, remove := ec2.NewFromConfig(cfg).DeleteNetworkInterface(t.Context(), &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: aws.String("eni-1"), DryRun: aws.Bool(true)})
	_, receive := sqs.NewFromConfig(cfg).ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &server.URL})
	_, assume := sts.NewFromConfig(cfg).AssumeRole(t.Context(), &sts.AssumeRoleInput{RoleArn: aws.String("x"), RoleSessionName: aws.String("x")})
	for operation, err := range map[string]error{"DeleteNetworkInterface": remove, "ReceiveMessage": receive, "AssumeRole": assume} {
		var refused *WriteError
		if !errors.As(err, &refused) || refused.Operation != operation {
			t.Errorf("%s: got %v, want that it is not sent", operation, err)
		}
	}
	if sent > 0 {
		t.Errorf("%d requests were sent", sent)
	}
	if _, err := ec2.NewFromConfig(cfg).DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{}); err == nil || sent != 1 {
		t.Errorf("a read: %v, %d requests sent, want 1", err, sent)
	}
	for operation, want := range map[string]bool{"Getaway": false, "Describe": true, "DescribeVpcs": true, "ListClusters": true, "Listen": false, "PutItem": false, "RunInstances": false} {
		if reads(operation) != want {
			t.Errorf("reads(%s) = %t", operation, !want)
		}
	}
}

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
	// as are the clients with another key.
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
	// writes is set where asking changes something.
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
	s, err := stage.Start(t.Context(), stage.Options{World: "../../stage/worlds/route.yaml", Template: "../../infra/Rollcall.template.json", Quiet: true})
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

func questions() []question {
	return slices.Concat(readingQuestions(), writingQuestions())
}

// Why moto answers otherwise.
const (
	motoBelieves   = "moto looks at no signature; AWS's codes are in stage/platform/wire/token.go"
	motoTakesIDs   = "moto looks for any id; AWS's codes are in the EC2 API reference, \"Error codes\" (stage/platform/wire/wire.go)"
	motoHasNoModel = "moto does not look at ranges and enumerations; they are in AWS's API models (stage/platform/wire/model.txt)"
)

// readingQuestions need nothing in the account, and change nothing.
func readingQuestions() []question {
	var list []question
	// Who asks.
	list = append(list, question{name: "who asks", ask: func(ctx context.Context, p *place) (string, error) {
		out, err := p.sts.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
		if err != nil {
			return "", err
		}
		if !regexp.MustCompile(`^\d{12}$`).MatchString(aws.ToString(out.Account)) || !regexp.MustCompile(`^arn:aws[\w-]*:(iam|sts)::`+*out.Account+`:`).MatchString(aws.ToString(out.Arn)) {
			return "no caller: " + aws.ToString(out.Account) + " " + aws.ToString(out.Arn), nil
		}
		return "a caller", nil
	}, want: "a caller"})
	// Signatures.
	for service, codes := range map[string]struct{ wrong, unknown string }{
		"ec2": {"AuthFailure", "AuthFailure"}, "sts": {"SignatureDoesNotMatch", "InvalidClientTokenId"}, "iam": {"SignatureDoesNotMatch", "InvalidClientTokenId"},
		"autoscaling": {"SignatureDoesNotMatch", "InvalidClientTokenId"}, "eks": {"InvalidSignatureException", "UnrecognizedClientException"},
		"secretsmanager": {"InvalidSignatureException", "UnrecognizedClientException"},
	} {
		list = append(list,
			question{name: service + " with a wrong secret", ask: func(ctx context.Context, p *place) (string, error) {
				key, err := p.key(ctx)
				if err != nil {
					return "", err
				}
				return anyRead(ctx, service, p.as(key, "a-secret-that-is-not-the-one-of-this-key"))
			}, want: codes.wrong, moto: "believed", why: motoBelieves},
			question{name: service + " with an unknown key", ask: func(ctx context.Context, p *place) (string, error) {
				return anyRead(ctx, service, p.as("AKIAIOSFODNN7NOTAKEY", "a-secret"))
			}, want: codes.unknown, moto: "believed", why: motoBelieves})
	}
	// Ids that cannot be, and ids of nothing.
	for name, id := range describes() {
		moto, silent := id.notFound, ""
		if name == "a NAT gateway" {
			moto, silent = "found", "found"
		}
		list = append(list,
			question{name: name + " by another kind's id", ask: func(ctx context.Context, p *place) (string, error) { return id.ask(ctx, p, "web-1") },
				want: id.malformed, moto: moto, why: motoTakesIDs},
			question{name: name + " by a short id", ask: func(ctx context.Context, p *place) (string, error) { return id.ask(ctx, p, id.prefix+"-1") },
				want: id.malformed, moto: moto, why: motoTakesIDs},
			question{name: name + " that is not there", ask: func(ctx context.Context, p *place) (string, error) { return id.ask(ctx, p, id.prefix+"-"+absent) },
				want: id.notFound, moto: silent, why: map[bool]string{true: "moto answers with an empty list; NatGatewayNotFound is in the EC2 API reference, \"Error codes\""}[silent != ""]})
	}
	slices.SortFunc(list[1:], func(a, b question) int { return strings.Compare(a.name, b.name) })
	return append(list,
		question{name: "a page that is too long", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.ec2.DescribeVpcPeeringConnections(ctx, &ec2.DescribeVpcPeeringConnectionsInput{MaxResults: aws.Int32(1001)})
			return "a page", err
		}, want: "InvalidParameterValue", moto: "a page", why: motoHasNoModel},
		question{name: "a page of clusters that is too long", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.eks.ListClusters(ctx, &eks.ListClustersInput{MaxResults: aws.Int32(101)})
			return "a page", err
		}, want: "InvalidParameterException", moto: "a page", why: motoHasNoModel},
		question{name: "a filter that does not exist", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{Filters: filters("colour", "red")})
			return "found", err
		}, want: "InvalidParameterValue", moto: "found", why: "moto overlooks it; EC2: The filter 'colour' is invalid"},
		question{name: "a value that nothing has", ask: func(ctx context.Context, p *place) (string, error) {
			out, err := p.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{Filters: filters("instance-id", "web-1")})
			if err == nil && len(out.Reservations) > 0 {
				return "something", nil
			}
			return "nothing", err
		}, want: "nothing"},
		question{name: "an attribute that does not exist", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.ec2.DescribeVpcAttribute(ctx, &ec2.DescribeVpcAttributeInput{VpcId: aws.String("vpc-" + absent), Attribute: types.VpcAttributeName("enableDns")})
			return "told", err
		}, want: "InvalidParameterValue", moto: "InvalidVpcID.NotFound", why: motoHasNoModel},
		question{name: "an unknown cluster", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.eks.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String("rollcall-asks-for-nothing")})
			return "found", err
		}, want: "ResourceNotFoundException"},
		question{name: "nodegroups of an unknown cluster", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.eks.ListNodegroups(ctx, &eks.ListNodegroupsInput{ClusterName: aws.String("rollcall-asks-for-nothing")})
			return "found", err
		}, want: "ResourceNotFoundException", moto: "broken", why: "moto answers with HTTP 500; EKS's model has the exception"},
		question{name: "an unknown role", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String("rollcall-asks-for-nothing")})
			return "found", err
		}, want: "NoSuchEntity"},
		question{name: "a role by its path", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String("team/node")})
			return "found", err
		}, want: "ValidationError", moto: "NoSuchEntity", why: motoHasNoModel},
		question{name: "an unknown instance profile", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.iam.GetInstanceProfile(ctx, &iam.GetInstanceProfileInput{InstanceProfileName: aws.String("rollcall-asks-for-nothing")})
			return "found", err
		}, want: "NoSuchEntity"},
		question{name: "an unknown Auto Scaling group", ask: func(ctx context.Context, p *place) (string, error) {
			out, err := p.autoscaling.DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{"rollcall-asks-for-nothing"}})
			if err == nil && len(out.AutoScalingGroups) > 0 {
				return "something", nil
			}
			return "nothing", err
		}, want: "nothing"},
		question{name: "an unknown secret", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.secrets.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: aws.String("rollcall-asks-for-nothing")})
			return "found", err
		}, want: "ResourceNotFoundException"},
		question{name: "an unknown queue", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.sqs.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String("rollcall-asks-for-nothing")})
			return "found", err
		}, want: "AWS.SimpleQueueService.NonExistentQueue"},
	)
}

// anyRead is one read of a service that needs nothing in the account.
func anyRead(ctx context.Context, service string, p *place) (string, error) {
	var err error
	switch service {
	case "ec2":
		_, err = p.ec2.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{})
	case "sts":
		_, err = p.sts.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	case "iam":
		if _, err = p.iam.GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String("rollcall-asks-for-nothing")}); isCode(err, "NoSuchEntity") {
			err = nil
		}
	case "autoscaling":
		_, err = p.autoscaling.DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{})
	case "eks":
		_, err = p.eks.ListClusters(ctx, &eks.ListClustersInput{})
	case "secretsmanager":
		if _, err = p.secrets.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: aws.String("rollcall-asks-for-nothing")}); isCode(err, "ResourceNotFoundException") {
			err = nil
		}
	}
	return "believed", err
}

// describe asks for one resource of EC2 by its id.
type describe struct {
	prefix, malformed, notFound string
	ask                         func(ctx context.Context, p *place, id string) (string, error)
}

func describes() map[string]describe {
	return map[string]describe{
		"an instance": {"i", "InvalidInstanceID.Malformed", "InvalidInstanceID.NotFound", func(ctx context.Context, p *place, id string) (string, error) {
			_, err := p.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
			return "found", err
		}},
		"a subnet": {"subnet", "InvalidSubnetID.Malformed", "InvalidSubnetID.NotFound", func(ctx context.Context, p *place, id string) (string, error) {
			_, err := p.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{SubnetIds: []string{id}})
			return "found", err
		}},
		"a VPC": {"vpc", "InvalidVpcID.Malformed", "InvalidVpcID.NotFound", func(ctx context.Context, p *place, id string) (string, error) {
			_, err := p.ec2.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{VpcIds: []string{id}})
			return "found", err
		}},
		"a route table": {"rtb", "InvalidRouteTableId.Malformed", "InvalidRouteTableID.NotFound", func(ctx context.Context, p *place, id string) (string, error) {
			_, err := p.ec2.DescribeRouteTables(ctx, &ec2.DescribeRouteTablesInput{RouteTableIds: []string{id}})
			return "found", err
		}},
		"an interface": {"eni", "InvalidNetworkInterfaceId.Malformed", "InvalidNetworkInterfaceID.NotFound", func(ctx context.Context, p *place, id string) (string, error) {
			_, err := p.ec2.DescribeNetworkInterfaces(ctx, &ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{id}})
			return "found", err
		}},
		"a security group": {"sg", "InvalidGroupId.Malformed", "InvalidGroup.NotFound", func(ctx context.Context, p *place, id string) (string, error) {
			_, err := p.ec2.DescribeSecurityGroups(ctx, &ec2.DescribeSecurityGroupsInput{GroupIds: []string{id}})
			return "found", err
		}},
		"a NAT gateway": {"nat", "NatGatewayMalformed", "NatGatewayNotFound", func(ctx context.Context, p *place, id string) (string, error) {
			_, err := p.ec2.DescribeNatGateways(ctx, &ec2.DescribeNatGatewaysInput{NatGatewayIds: []string{id}})
			return "found", err
		}},
		"a volume": {"vol", "InvalidVolumeID.Malformed", "InvalidVolume.NotFound", func(ctx context.Context, p *place, id string) (string, error) {
			_, err := p.ec2.DescribeVolumes(ctx, &ec2.DescribeVolumesInput{VolumeIds: []string{id}})
			return "found", err
		}},
		"a launch template": {"lt", "InvalidLaunchTemplateId.Malformed", "InvalidLaunchTemplateId.NotFound", func(ctx context.Context, p *place, id string) (string, error) {
			_, err := p.ec2.DescribeLaunchTemplateVersions(ctx, &ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateId: &id, Versions: []string{"1"}})
			return "found", err
		}},
	}
}

// writingQuestions are about the things that were made for them, and change
// them: an answer depends on those before.
func writingQuestions() []question {
	list := writing()
	for i := range list {
		list[i].writes = true
	}
	return list
}

func writing() []question {
	return []question{
		// Route tables.
		{name: "route table by subnet", ask: tablesBy("association.subnet-id"), want: "10.42.0.0/16 -> local active CreateRouteTable"},
		{name: "route table by id", ask: tableByID, want: "10.42.0.0/16 -> local active CreateRouteTable"},
		{name: "route tables of no subnet", ask: func(ctx context.Context, p *place) (string, error) {
			return tables(ctx, p, &ec2.DescribeRouteTablesInput{Filters: filters("association.subnet-id", "subnet-"+absent)})
		}, want: ""},
		{name: "unknown route table", ask: func(ctx context.Context, p *place) (string, error) {
			return tables(ctx, p, &ec2.DescribeRouteTablesInput{RouteTableIds: []string{"rtb-" + absent}})
		}, want: "InvalidRouteTableID.NotFound"},
		{name: "route in an unknown table", ask: createRoute(func(p *place, in *ec2.CreateRouteInput) {
			in.RouteTableId, in.NatGatewayId = aws.String("rtb-"+absent), &p.things.nat
		}), want: "InvalidRouteTableID.NotFound"},
		{name: "route to no block", ask: createRoute(func(p *place, in *ec2.CreateRouteInput) {
			in.NatGatewayId, in.DestinationCidrBlock = &p.things.nat, aws.String("everywhere")
		}), want: "InvalidParameterValue"},
		{name: "route", ask: createRoute(func(p *place, in *ec2.CreateRouteInput) { in.NatGatewayId = &p.things.nat }), want: "true"},
		{name: "route to another target", ask: createRoute(func(p *place, in *ec2.CreateRouteInput) { in.GatewayId = &p.things.gateway }), want: "RouteAlreadyExists"},
		{
			name: "the same route again", ask: createRoute(func(p *place, in *ec2.CreateRouteInput) { in.NatGatewayId = &p.things.nat }),
			want: "true", moto: "RouteAlreadyExists",
			why: "EC2 lets it pass, which is why Terraform's provider had to look for the route itself (its pull request 36326)",
		},
		{name: "table with the route", ask: tablesBy("association.subnet-id"), want: "0.0.0.0/0 -> nat active CreateRoute, 10.42.0.0/16 -> local active CreateRouteTable"},
		{name: "no such route", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.ec2.DeleteRoute(ctx, &ec2.DeleteRouteInput{RouteTableId: &p.things.table, DestinationCidrBlock: aws.String("192.0.2.0/24")})
			return "deleted", err
		}, want: "InvalidRoute.NotFound"},

		// Subnets and interfaces.
		{name: "free addresses", ask: free, want: "8187"},
		{name: "interface", ask: createInterface("aws-K8S-i-"+absent, 0), want: "available interface 1"},
		{name: "free addresses with it", ask: free, want: "8186"},
		{name: "interface with four addresses", ask: createInterface("something else", 3), want: "available interface 4"},
		{name: "free addresses with both", ask: free, want: "8182"},
		{name: "interfaces by status", ask: interfaces("status", "available"), want: "aws-K8S-i-" + absent + ", something else"},
		{name: "interfaces by description", ask: interfaces("description", "aws-K8S-*"), want: "aws-K8S-i-" + absent},
		{name: "interfaces by another case", ask: interfaces("description", "AWS-k8s-*"), want: ""},
		{name: "interfaces by tag", ask: interfaces("tag:owner", "something else"), want: "something else"},
		{name: "interfaces by tag key", ask: interfaces("tag-key", "owner"), want: "aws-K8S-i-" + absent + ", something else"},
		{name: "interfaces in use", ask: interfaces("status", "in-use"), want: ""},
		{name: "unknown interface", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.ec2.DescribeNetworkInterfaces(ctx, &ec2.DescribeNetworkInterfacesInput{NetworkInterfaceIds: []string{"eni-" + absent}})
			return "found", err
		}, want: "InvalidNetworkInterfaceID.NotFound"},
		{name: "deleting an unknown interface", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.ec2.DeleteNetworkInterface(ctx, &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: aws.String("eni-" + absent)})
			return "deleted", err
		}, want: "InvalidNetworkInterfaceID.NotFound"},
		{name: "deleting the interfaces", ask: deleteInterfaces, want: "2"},
		{name: "free addresses again", ask: free, want: "8187"},
		{name: "unknown subnet", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{SubnetIds: []string{"subnet-" + absent}})
			return "found", err
		}, want: "InvalidSubnetID.NotFound"},

		// Secrets.
		{name: "secret", ask: secret(func(p *place, in *secretsmanager.GetSecretValueInput) {}), want: "xoxb-stage-token [AWSCURRENT] named -6"},
		{name: "unknown secret", ask: secret(func(_ *place, in *secretsmanager.GetSecretValueInput) { in.SecretId = aws.String("nothing") }), want: "ResourceNotFoundException"},
		{name: "secret's unknown stage", ask: secret(func(_ *place, in *secretsmanager.GetSecretValueInput) { in.VersionStage = aws.String("AWSPENDING") }), want: "ResourceNotFoundException"},

		// Queues.
		{name: "sending", ask: func(ctx context.Context, p *place) (string, error) {
			out, err := p.sqs.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &p.things.queue, MessageBody: aws.String("hello"), MessageAttributes: map[string]sqstypes.MessageAttributeValue{
				"kind": {DataType: aws.String("String"), StringValue: aws.String("greeting")},
			}})
			if err != nil {
				return "", err
			}
			return aws.ToString(out.MD5OfMessageBody) + " " + aws.ToString(out.MD5OfMessageAttributes), nil
		}, want: "5d41402abc4b2a76b9719d911017c592 55ed4b7836c74ac3476eb038898fee8b"},
		{name: "receiving", ask: receive, want: "hello kind=greeting ApproximateFirstReceiveTimestamp ApproximateReceiveCount=1 SenderId SentTimestamp"},
		{name: "receiving what is in flight", ask: receive, want: ""},
		{name: "deleting with no handle of ours", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.sqs.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &p.things.queue, ReceiptHandle: aws.String("nonsense")})
			return "deleted", err
		}, want: "ReceiptHandleIsInvalid", stage: "deleted", why: "the stage takes any handle that it does not know for an old one"},
		{name: "sending nothing", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.sqs.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &p.things.queue, MessageBody: aws.String("")})
			return "sent", err
		}, want: "MissingParameter", moto: "sent", why: "a message has at least one character (API reference)"},
		{name: "unknown queue", ask: func(ctx context.Context, p *place) (string, error) {
			_, err := p.sqs.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String("nothing")})
			return "found", err
		}, want: "AWS.SimpleQueueService.NonExistentQueue"},
	}
}

// isCode tells an error by the API's name of it.
func isCode(err error, code string) bool {
	var api smithy.APIError
	return errors.As(err, &api) && api.ErrorCode() == code
}

func filters(name, value string) []types.Filter {
	return []types.Filter{{Name: &name, Values: []string{value}}}
}

func tablesBy(filter string) func(context.Context, *place) (string, error) {
	return func(ctx context.Context, p *place) (string, error) {
		return tables(ctx, p, &ec2.DescribeRouteTablesInput{Filters: filters(filter, p.things.subnet)})
	}
}

func tableByID(ctx context.Context, p *place) (string, error) {
	return tables(ctx, p, &ec2.DescribeRouteTablesInput{RouteTableIds: []string{p.things.table}})
}

// tables are the routes of all tables found, without ids.
func tables(ctx context.Context, p *place, in *ec2.DescribeRouteTablesInput) (string, error) {
	out, err := p.ec2.DescribeRouteTables(ctx, in)
	if err != nil {
		return "", err
	}
	var rows []string
	for _, t := range out.RouteTables {
		for _, r := range t.Routes {
			kind, _, _ := strings.Cut(aws.ToString(r.GatewayId)+aws.ToString(r.NatGatewayId), "-")
			rows = append(rows, fmt.Sprintf("%s -> %s %s %s", aws.ToString(r.DestinationCidrBlock), kind, r.State, r.Origin))
		}
	}
	slices.Sort(rows)
	return strings.Join(rows, ", "), nil
}

func createRoute(change func(*place, *ec2.CreateRouteInput)) func(context.Context, *place) (string, error) {
	return func(ctx context.Context, p *place) (string, error) {
		in := &ec2.CreateRouteInput{RouteTableId: &p.things.table, DestinationCidrBlock: aws.String("0.0.0.0/0")}
		change(p, in)
		out, err := p.ec2.CreateRoute(ctx, in)
		if err != nil {
			return "", err
		}
		return fmt.Sprint(aws.ToBool(out.Return)), nil
	}
}

func free(ctx context.Context, p *place) (string, error) {
	out, err := p.ec2.DescribeSubnets(ctx, &ec2.DescribeSubnetsInput{SubnetIds: []string{p.things.subnet}})
	if err != nil {
		return "", err
	}
	return fmt.Sprint(aws.ToInt32(out.Subnets[0].AvailableIpAddressCount)), nil
}

func createInterface(description string, secondary int32) func(context.Context, *place) (string, error) {
	return func(ctx context.Context, p *place) (string, error) {
		in := &ec2.CreateNetworkInterfaceInput{
			SubnetId: &p.things.subnet, Description: &description,
			TagSpecifications: []types.TagSpecification{{ResourceType: types.ResourceTypeNetworkInterface, Tags: []types.Tag{{Key: aws.String("owner"), Value: &description}}}},
		}
		if secondary > 0 {
			in.SecondaryPrivateIpAddressCount = &secondary
		}
		out, err := p.ec2.CreateNetworkInterface(ctx, in)
		if err != nil {
			return "", err
		}
		n := out.NetworkInterface
		return fmt.Sprintf("%s %s %d", n.Status, n.InterfaceType, len(n.PrivateIpAddresses)), nil
	}
}

func describeInterfaces(ctx context.Context, p *place, more ...types.Filter) ([]types.NetworkInterface, error) {
	out, err := p.ec2.DescribeNetworkInterfaces(ctx, &ec2.DescribeNetworkInterfacesInput{Filters: append(filters("subnet-id", p.things.subnet), more...)})
	if err != nil {
		return nil, err
	}
	return out.NetworkInterfaces, nil
}

func interfaces(filter, value string) func(context.Context, *place) (string, error) {
	return func(ctx context.Context, p *place) (string, error) {
		list, err := describeInterfaces(ctx, p, filters(filter, value)...)
		var names []string
		for _, n := range list {
			names = append(names, aws.ToString(n.Description))
		}
		slices.Sort(names)
		return strings.Join(names, ", "), err
	}
}

func deleteInterfaces(ctx context.Context, p *place) (string, error) {
	list, err := describeInterfaces(ctx, p)
	for _, n := range list {
		if _, err := p.ec2.DeleteNetworkInterface(ctx, &ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: n.NetworkInterfaceId}); err != nil {
			return "", err
		}
	}
	return fmt.Sprint(len(list)), err
}

func secret(change func(*place, *secretsmanager.GetSecretValueInput)) func(context.Context, *place) (string, error) {
	return func(ctx context.Context, p *place) (string, error) {
		in := &secretsmanager.GetSecretValueInput{SecretId: &p.things.secret}
		change(p, in)
		out, err := p.secrets.GetSecretValue(ctx, in)
		if err != nil {
			return "", err
		}
		name := map[bool]string{true: "named", false: "not named"}[aws.ToString(out.Name) == p.things.secret]
		_, suffix, _ := strings.Cut(aws.ToString(out.ARN), ":secret:"+p.things.secret+"-")
		return fmt.Sprintf("%s %v %s -%d", aws.ToString(out.SecretString), out.VersionStages, name, len(suffix)), nil
	}
}

// receive gives a message's body, its attributes, and the names of what SQS
// adds to it.
func receive(ctx context.Context, p *place) (string, error) {
	out, err := p.sqs.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: &p.things.queue, MessageAttributeNames: []string{"All"}, MessageSystemAttributeNames: []sqstypes.MessageSystemAttributeName{"All"},
	})
	if err != nil {
		return "", err
	}
	var words []string
	for _, m := range out.Messages {
		words = append(words, aws.ToString(m.Body))
		for _, name := range slices.Sorted(maps.Keys(m.MessageAttributes)) {
			words = append(words, name+"="+aws.ToString(m.MessageAttributes[name].StringValue))
		}
		for _, name := range slices.Sorted(maps.Keys(m.Attributes)) {
			if name == "ApproximateReceiveCount" {
				name += "=" + m.Attributes[name]
			}
			words = append(words, name)
		}
	}
	return strings.Join(words, " "), nil
}
