package awscall

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"rollcall/shared/remedy/call"
	"rollcall/stage/platform/wire"
)

// ask sends a delete to an EC2 that gives the answer.
func ask(t *testing.T, dryRun bool, answer error) (call.Answer, int) {
	t.Helper()
	s, err := wire.New(wire.Config{AnyIDs: true, Faults: wire.NoFaults{}})
	if err != nil {
		t.Fatal(err)
	}
	wire.Handle(s, "ec2", "DeleteNetworkInterface", func(_ context.Context, _ *wire.Call, in *ec2.DeleteNetworkInterfaceInput) (*ec2.DeleteNetworkInterfaceOutput, error) {
		if *in.NetworkInterfaceId != "eni-1" || aws.ToBool(in.DryRun) != dryRun {
			t.Errorf("asked for %+v", in)
		}
		return &ec2.DeleteNetworkInterfaceOutput{}, answer
	})
	h := httptest.NewServer(s)
	defer h.Close()
	return to(h.URL).DeleteNetworkInterface(t.Context(), "eni-1", dryRun), len(s.Calls())
}

func to(url string) Interfaces {
	return NewInterfaces(aws.Config{Region: "us-west-2", BaseEndpoint: aws.String(url), Credentials: credentials.NewStaticCredentialsProvider("AKID", "SECRET", "")})
}

func TestDelete(t *testing.T) {
	for _, test := range []struct {
		code   string
		status int
		want   call.Outcome
	}{
		{"InvalidParameterValue", 400, call.InUse},
		{"InvalidNetworkInterface.InUse", 400, call.InUse},
		{"InvalidNetworkInterfaceID.NotFound", 400, call.NotThere},
		{"RequestLimitExceeded", 503, call.Throttled},
		{"UnauthorizedOperation", 403, call.Denied},
		{"AuthFailure", 401, call.Denied},
		{"OperationNotPermitted", 400, call.Refused},
		{"InvalidNetworkInterfaceId.Malformed", 400, call.Refused},
		{"InternalError", 500, call.Uncertain},
		{"Unavailable", 503, call.Uncertain},
		{"SomethingNew", 500, call.Uncertain},
	} {
		got, calls := ask(t, false, &wire.Error{Code: test.code, Message: "x Encoded authorization failure message: abc", Status: test.status})
		if got.Outcome != test.want || got.Code != test.code || got.Message != "x" || got.Request == "" || calls != 1 {
			t.Errorf("%s: %+v after %d calls, want %q after one", test.code, got, calls, test.want)
		}
	}
	if got, _ := ask(t, false, nil); got.Outcome != call.Done || got.Request == "" {
		t.Errorf("done: %+v", got)
	}
	if got, _ := ask(t, true, &wire.Error{Code: "DryRunOperation", Message: "x", Status: 412}); got.Outcome != call.WouldDo {
		t.Errorf("dry run: %+v", got)
	}
	if got := (Interfaces{obliging{}}).DeleteNetworkInterface(t.Context(), "eni-1", true); got.Outcome != call.Uncertain {
		t.Errorf("a dry run that was answered as if it were none: %+v", got)
	}
}

// What is not answered may have been done.
func TestDeleteWithoutAnswer(t *testing.T) {
	for name, handle := range map[string]http.HandlerFunc{
		"cut off": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"a page that is none of EC2's": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadGateway)
			fmt.Fprint(w, "<html>bad gateway</html>")
		},
		"an error without a code": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) },
	} {
		h := httptest.NewServer(handle)
		if got := to(h.URL).DeleteNetworkInterface(t.Context(), "eni-1", false); got.Outcome != call.Uncertain {
			t.Errorf("%s: %+v", name, got)
		}
		h.Close()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := to("http://127.0.0.1:1").DeleteNetworkInterface(ctx, "eni-1", false); got.Outcome != call.Uncertain {
		t.Errorf("cancelled: %+v", got)
	}
	if got := answerOf(errors.New("x")); got.Outcome != call.Uncertain {
		t.Errorf("an error of no kind: %+v", got)
	}
}

// obliging does whatever it is asked to, dry run or not.
type obliging struct{}

func (obliging) DeleteNetworkInterface(context.Context, *ec2.DeleteNetworkInterfaceInput, ...func(*ec2.Options)) (*ec2.DeleteNetworkInterfaceOutput, error) {
	return &ec2.DeleteNetworkInterfaceOutput{}, nil
}
