//go:build referee

package referee

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"rollcall/tools/testfile"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

var (
	who       = flag.String("referee.endpoint", "", `whom to ask: "moto", "aws", or the URL of an emulator`)
	wantWrite = flag.Bool("referee.write", false, "ask questions that write too, on this machine only")
	authority = flag.String("referee.ca", "", "certificate in PEM that the emulator's is signed by")
)

// TestReferee asks the endpoint and the stage the same questions.
func TestReferee(t *testing.T) {
	e, err := ParseEndpoint(*who)
	if err != nil {
		t.Fatal(err)
	}
	mayWrite, err := e.MayWrite(*wantWrite)
	if err != nil {
		t.Fatal(err)
	}
	cfg := clientsOf(t, e)
	s, made := startStage(t)
	judge, own := newPlace(e.Name, readOnly(cfg)), newPlace("stage", s.AsAdmin())
	if mayWrite {
		judge = newPlace(e.Name, cfg)
		judge.things, own.things = makeThings(t, cfg), made
	}
	asked, missing, left := 0, 0, 0
	for _, q := range questions() {
		if q.writes && !mayWrite {
			left++
			continue
		}
		t.Run(q.name, func(t *testing.T) {
			got, err := answerOf(t.Context(), q, judge)
			if notImplemented(err) {
				missing++
				t.Skipf("%s does not know this", e.Name)
			}
			asked++
			want := q.want
			if e.Name == "moto" && q.moto != "" {
				want = q.moto
			}
			if got != want {
				t.Errorf("%s: got %q, want %q (%v)", e.Name, got, want, err)
			}
			want = q.want
			if q.stage != "" {
				want = q.stage
			}
			if got, err := answerOf(t.Context(), q, own); got != want {
				t.Errorf("stage: got %q, want %q (%v)", got, want, err)
			}
		})
	}
	t.Logf("%s: %d questions asked, %d that it does not know, %d not asked as they write", e.Name, asked, missing, left)
	if asked == 0 {
		t.Errorf("%s answered nothing", e.Name)
	}
}

// notImplemented reports whether an emulator has no such operation.
func notImplemented(err error) bool {
	var response *smithyhttp.ResponseError
	return errors.As(err, &response) && response.HTTPStatusCode() == http.StatusNotImplemented
}

// clientsOf reaches an endpoint: AWS as the environment and the profile say, an
// emulator with made-up keys.
func clientsOf(t *testing.T, e Endpoint) aws.Config {
	t.Helper()
	if e.Name == "aws" {
		cfg, err := config.LoadDefaultConfig(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	if e.Name == "moto" {
		e.URL = startMoto(t)
	}
	cfg := aws.Config{
		Region: "us-west-2", BaseEndpoint: &e.URL,
		Credentials: credentials.NewStaticCredentialsProvider("AKIAIOSFODNN7EXAMPLE", "secret", ""),
	}
	if *authority != "" {
		pem := testfile.Read(t, *authority)
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			t.Fatalf("%s holds no certificate", *authority)
		}
		cfg.HTTPClient = awshttp.NewBuildableClient().WithTransportOptions(func(tr *http.Transport) {
			tr.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
		})
	}
	if !e.Local { // a real account by its address, never with made-up keys
		own, err := config.LoadDefaultConfig(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		cfg.Region, cfg.Credentials = own.Region, own.Credentials
	}
	return cfg
}

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
