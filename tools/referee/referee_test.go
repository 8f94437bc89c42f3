//go:build referee

package referee

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"net/http"
	"os"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
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

// notImplemented tells that an emulator has no such operation.
func notImplemented(err error) bool {
	var response *smithyhttp.ResponseError
	return errors.As(err, &response) && response.HTTPStatusCode() == http.StatusNotImplemented
}

// clientsOf reaches an endpoint: AWS as the environment and the profile say, an
// emulator with keys of nobody.
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
		pem, err := os.ReadFile(*authority)
		if err != nil {
			t.Fatal(err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			t.Fatalf("%s holds no certificate", *authority)
		}
		cfg.HTTPClient = awshttp.NewBuildableClient().WithTransportOptions(func(tr *http.Transport) {
			tr.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
		})
	}
	if !e.Local { // somebody's own account by its address, never with keys of nobody
		own, err := config.LoadDefaultConfig(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		cfg.Region, cfg.Credentials = own.Region, own.Credentials
	}
	return cfg
}
