package awsjson

import (
	"errors"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"rollcall/shared/awscall"
	"rollcall/tools/expect"
)

// TestEndpoint: what calls say and how they fail is held by the packages of the services.
func TestEndpoint(t *testing.T) {
	trail := Service{ID: "CloudTrail", Name: "cloudtrail"}
	for region, want := range map[string]string{"eu-west-1": "https://cloudtrail.eu-west-1.amazonaws.com/", "cn-north-1": "https://cloudtrail.cn-north-1.amazonaws.com.cn/"} {
		expect.Equal(t, "got", New(aws.Config{}, trail).endpoint(region), want)
	}
	if err := New(aws.Config{HTTPClient: http.DefaultClient}, trail).Call(t.Context(), "LookupEvents", "x", nil, nil); !errors.Is(err, awscall.ErrNoCredentials) {
		t.Errorf("without credentials: %v", err)
	}
}
