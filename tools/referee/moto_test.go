//go:build referee

package referee

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// makeThings makes the things that the questions that write are about.
func makeThings(t *testing.T, cfg aws.Config) *things {
	t.Helper()
	p, made, ctx := newPlace("", cfg), &things{}, t.Context()
	vpc := must(p.ec2.CreateVpc(ctx, &ec2.CreateVpcInput{CidrBlock: aws.String("10.42.0.0/16")}))(t)
	made.vpc = *vpc.Vpc.VpcId
	public := must(p.ec2.CreateSubnet(ctx, &ec2.CreateSubnetInput{VpcId: &made.vpc, CidrBlock: aws.String("10.42.0.0/19"), AvailabilityZone: aws.String("us-west-2a")}))(t)
	private := must(p.ec2.CreateSubnet(ctx, &ec2.CreateSubnetInput{VpcId: &made.vpc, CidrBlock: aws.String("10.42.192.0/19"), AvailabilityZone: aws.String("us-west-2a")}))(t)
	made.subnet = *private.Subnet.SubnetId
	table := must(p.ec2.CreateRouteTable(ctx, &ec2.CreateRouteTableInput{VpcId: &made.vpc}))(t)
	made.table = *table.RouteTable.RouteTableId
	must(p.ec2.AssociateRouteTable(ctx, &ec2.AssociateRouteTableInput{RouteTableId: &made.table, SubnetId: &made.subnet}))(t)
	gateway := must(p.ec2.CreateInternetGateway(ctx, &ec2.CreateInternetGatewayInput{}))(t)
	made.gateway = *gateway.InternetGateway.InternetGatewayId
	must(p.ec2.AttachInternetGateway(ctx, &ec2.AttachInternetGatewayInput{InternetGatewayId: &made.gateway, VpcId: &made.vpc}))(t)
	address := must(p.ec2.AllocateAddress(ctx, &ec2.AllocateAddressInput{}))(t)
	nat := must(p.ec2.CreateNatGateway(ctx, &ec2.CreateNatGatewayInput{SubnetId: public.Subnet.SubnetId, AllocationId: address.AllocationId}))(t)
	made.nat = *nat.NatGateway.NatGatewayId
	made.secret = "rollcall/slack"
	must(p.secrets.CreateSecret(ctx, &secretsmanager.CreateSecretInput{Name: &made.secret, SecretString: aws.String("xoxb-stage-token")}))(t)
	queue := must(p.sqs.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String("rollcall-launches")}))(t)
	made.queue = *queue.QueueUrl
	return made
}

// must gives a value that has to be there for the rest of the test.
func must[T any](value T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// motoTime is how long moto may take to listen: it is a large Python program.
const motoTime = 60 * time.Second

// startMoto starts moto on a free port and gives its address.
func startMoto(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("moto_server")
	if err != nil {
		t.Fatalf("no moto_server on the PATH: install it (pip install 'moto[server]==5.2.1'): %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(path, "-H", "127.0.0.1", "-p", strconv.Itoa(port))
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	t.Cleanup(func() {
		if err := c.Process.Kill(); err == nil {
			<-ended
		}
	})
	address := fmt.Sprintf("http://127.0.0.1:%d", port)
	ctx, cancel := context.WithTimeout(t.Context(), motoTime)
	defer cancel()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/moto-api/data.json", nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(request)
		if err == nil {
			answer.Body.Close()
			return address
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("moto_server ended: %v", err)
		case <-ctx.Done():
			t.Fatalf("moto_server does not listen after %s: %v", motoTime, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
