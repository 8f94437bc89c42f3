package wire

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/google/go-cmp/cmp"
)

func TestCallRecord(t *testing.T) {
	now := time.Date(2026, 11, 20, 21, 0, 0, 0, time.UTC)
	s, cfg := serve(t, Config{
		Now: func() time.Time { now = now.Add(time.Second); return now },
		Principals: func(key string) (Principal, bool) {
			return Principal{Name: "join-check", ARN: "arn:x", Account: "111122223333"}, key == "AKIDTEST"
		},
	})
	Handle(s, "ec2", "DescribeSubnets", func(_ context.Context, call *Call, _ *ec2.DescribeSubnetsInput) (*ec2.DescribeSubnetsOutput, error) {
		return &ec2.DescribeSubnetsOutput{NextToken: &call.Caller}, nil
	})
	out, err := ec2.NewFromConfig(cfg).DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := aws.ToString(out.NextToken), "join-check"; got != want {
		t.Errorf("the handler saw caller %q, want %q", got, want)
	}
	_, err = ec2.NewFromConfig(cfg).DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{})
	if got, want := decoded(t, err).Code, "InvalidAction"; got != want {
		t.Errorf("code = %q, want %q", got, want)
	}
	who := Principal{Name: "join-check", ARN: "arn:x", Account: "111122223333"}
	want := []Call{
		{Service: "ec2", Operation: "DescribeSubnets", Region: "us-west-2", Caller: "join-check", Principal: who, AccessKeyID: "AKIDTEST",
			RequestID: "00000000-0000-4000-8000-000000000001", Time: time.Date(2026, 11, 20, 21, 0, 1, 0, time.UTC), Duration: time.Second, Status: 200},
		{Service: "ec2", Operation: "DescribeVpcs", Region: "us-west-2", Caller: "join-check", Principal: who, AccessKeyID: "AKIDTEST",
			RequestID: "00000000-0000-4000-8000-000000000002", Time: time.Date(2026, 11, 20, 21, 0, 3, 0, time.UTC), Duration: time.Second, Code: "InvalidAction", Status: 400},
	}
	if diff := cmp.Diff(s.Calls(), want); diff != "" {
		t.Errorf("calls (-got +want):\n%s", diff)
	}
}

func TestDryRun(t *testing.T) {
	s, cfg := serve(t, Config{})
	Handle(s, "ec2", "DeleteNetworkInterface", func(context.Context, *Call, *ec2.DeleteNetworkInterfaceInput) (*ec2.DeleteNetworkInterfaceOutput, error) {
		t.Error("the handler ran")
		return nil, nil
	})
	_, err := ec2.NewFromConfig(cfg).DeleteNetworkInterface(t.Context(),
		&ec2.DeleteNetworkInterfaceInput{NetworkInterfaceId: aws.String("eni-0a1b2c3d4e5f60718"), DryRun: aws.Bool(true)})
	want := answerOf{"DryRunOperation", "Request would have succeeded, but DryRun flag is set.", 412}
	if diff := cmp.Diff(decoded(t, err), want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

func TestPages(t *testing.T) {
	s, cfg := serve(t, Config{})
	Handle(s, "ec2", "DescribeNetworkInterfaces", func(_ context.Context, _ *Call, in *ec2.DescribeNetworkInterfacesInput) (*ec2.DescribeNetworkInterfacesOutput, error) {
		token := aws.ToString(in.NextToken)
		out := &ec2.DescribeNetworkInterfacesOutput{NetworkInterfaces: []ec2types.NetworkInterface{{NetworkInterfaceId: aws.String("eni-" + token)}}}
		if len(token) < 3 {
			out.NextToken = aws.String(token + "x")
		}
		return out, nil
	})
	var got []string
	p := ec2.NewDescribeNetworkInterfacesPaginator(ec2.NewFromConfig(cfg), &ec2.DescribeNetworkInterfacesInput{MaxResults: aws.Int32(5)})
	for p.HasMorePages() {
		page, err := p.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, ni := range page.NetworkInterfaces {
			got = append(got, *ni.NetworkInterfaceId)
		}
	}
	if diff := cmp.Diff(got, []string{"eni-", "eni-x", "eni-xx", "eni-xxx"}); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
}

type world struct{}

func (world) DescribeSubnets(*ec2.DescribeSubnetsInput) (*ec2.DescribeSubnetsOutput, error) {
	return nil, Errorf("InvalidSubnetID.NotFound", "The subnet ID 'subnet-1' does not exist")
}
func (world) DescribeVpcs(*ec2.DescribeVpcsInput) (*ec2.DescribeVpcsOutput, error) {
	return &ec2.DescribeVpcsOutput{Vpcs: []ec2types.Vpc{{VpcId: aws.String("vpc-1")}}}, nil
}
func (world) DescribeCluster(*eks.DescribeClusterInput) (*eks.DescribeClusterOutput, error) {
	return nil, nil
}
func (world) Advance(time.Duration) {}

func TestHandleMethods(t *testing.T) {
	s, cfg := serve(t, Config{})
	if diff := cmp.Diff(HandleMethods(s, "ec2", world{}), []string{"DescribeSubnets", "DescribeVpcs"}); diff != "" {
		t.Errorf("ec2 operations (-got +want):\n%s", diff)
	}
	if diff := cmp.Diff(HandleMethods(s, "eks", world{}), []string{"DescribeCluster"}); diff != "" {
		t.Errorf("eks operations (-got +want):\n%s", diff)
	}
	client := ec2.NewFromConfig(cfg)
	out, err := client.DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := aws.ToString(out.Vpcs[0].VpcId), "vpc-1"; got != want {
		t.Errorf("vpc = %q, want %q", got, want)
	}
	_, err = client.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{})
	if got, want := decoded(t, err).Code, "InvalidSubnetID.NotFound"; got != want {
		t.Errorf("code = %q, want %q", got, want)
	}
	if _, err := eks.NewFromConfig(cfg).DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: aws.String("x")}); err != nil {
		t.Error(err)
	}
}

func TestPanicIsAnInternalError(t *testing.T) {
	s, cfg := serve(t, Config{})
	Handle(s, "ec2", "DescribeSubnets", func(context.Context, *Call, *ec2.DescribeSubnetsInput) (*ec2.DescribeSubnetsOutput, error) {
		panic("a defect")
	})
	_, err := ec2.NewFromConfig(cfg).DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{})
	if got, want := decoded(t, err).Code, "InternalError"; got != want {
		t.Errorf("code = %q, want %q", got, want)
	}
}
