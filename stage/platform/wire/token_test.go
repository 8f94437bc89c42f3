package wire

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

const testARN = "arn:aws:sts::123456789012:assumed-role/join-check/join-check"

func secretForTest(key, _ string) (string, string, bool) {
	return "stage-secret", testARN, key == "AKIDTEST"
}

type keys aws.Credentials

func (k keys) Retrieve(context.Context) (aws.Credentials, error) { return aws.Credentials(k), nil }

// tokenFor presigns with the SDK, as Rollcall does.
func tokenFor(t *testing.T, cluster, endpoint string, creds keys) string {
	t.Helper()
	client := sts.New(sts.Options{Region: "us-west-2", Credentials: creds}, func(o *sts.Options) {
		if endpoint != "" {
			o.BaseEndpoint = &endpoint
		}
	})
	req, err := sts.NewPresignClient(client).PresignGetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{}, func(po *sts.PresignOptions) {
		po.ClientOptions = append(po.ClientOptions, func(o *sts.Options) {
			o.APIOptions = append(o.APIOptions, smithyhttp.SetHeaderValue(clusterHeader, cluster), smithyhttp.SetHeaderValue("X-Amz-Expires", "60"))
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return tokenPrefix + base64.RawURLEncoding.EncodeToString([]byte(req.URL))
}

func TestVerifyClusterToken(t *testing.T) {
	now := time.Now()
	good := keys{AccessKeyID: "AKIDTEST", SecretAccessKey: "stage-secret"}
	session := keys{AccessKeyID: "AKIDTEST", SecretAccessKey: "stage-secret", SessionToken: "a/b+c=="}
	token := tokenFor(t, "prod", "", good)
	edit := func(old, new string) string {
		raw, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(token, tokenPrefix))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(raw), old) {
			t.Fatalf("%q is not in the token", old)
		}
		return tokenPrefix + base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(string(raw), old, new, 1)))
	}
	tests := []struct {
		name, token string
		now         time.Time
		want        TokenRefusal
	}{
		{"good", token, now, ""},
		{"good with padding", token + "==", now, ""},
		{"session token", tokenFor(t, "prod", "", session), now, ""},
		{"loopback endpoint", tokenFor(t, "prod", "http://127.0.0.1:4566", good), now, ""},
		{"after X-Amz-Expires", token, now.Add(14 * time.Minute), ""},
		{"another cluster", tokenFor(t, "staging", "", good), now, TokenBadSignature},
		{"expired", token, now.Add(16 * time.Minute), TokenExpired},
		{"from the future", token, now.Add(-10 * time.Minute), TokenNotYetValid},
		{"forged", tokenFor(t, "prod", "", keys{AccessKeyID: "AKIDTEST", SecretAccessKey: "guess"}), now, TokenBadSignature},
		{"later date", edit("X-Amz-Expires=60", "X-Amz-Expires=61"), now, TokenBadSignature},
		{"unknown key", tokenFor(t, "prod", "", keys{AccessKeyID: "AKIDELSE", SecretAccessKey: "stage-secret"}), now, TokenUnknownKey},
		{"too long", token + strings.Repeat("A", maxTokenLength), now, TokenTooLong},
		{"no prefix", "Bearer", now, TokenMalformed},
		{"not base64", tokenPrefix + "*", now, TokenMalformed},
		{"another action", edit("Action=GetCallerIdentity", "Action=AssumeRole"), now, TokenMalformed},
		{"another host", edit("https://sts.", "https://evil.example/sts."), now, TokenMalformed},
		{"plain http to AWS", edit("https://", "http://"), now, TokenMalformed},
		{"more parameters", edit("X-Amz-Expires=60", "X-Amz-Expires=60&Foo=bar"), now, TokenMalformed},
		{"cluster not signed", edit("host%3Bx-k8s-aws-id", "host"), now, TokenMalformed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			arn, err := VerifyClusterToken(tt.token, "prod", tt.now, secretForTest)
			var te *TokenError
			switch {
			case tt.want == "" && (err != nil || arn != testARN):
				t.Errorf("arn = %q, error = %v, want %q", arn, err, testARN)
			case tt.want != "" && (!errors.As(err, &te) || te.Reason != tt.want || arn != ""):
				t.Errorf("arn = %q, error = %v, want reason %q", arn, err, tt.want)
			}
		})
	}
}

// TestSignatureAgreesWithSDK compares our SigV4 with the SDK's signer on a
// request that the token test does not make.
func TestSignatureAgreesWithSDK(t *testing.T) {
	at := time.Date(2026, 11, 20, 21, 0, 0, 0, time.UTC)
	req, err := http.NewRequest(http.MethodGet, "https://sts.eu-west-1.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15&X-Amz-Expires=60", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set(clusterHeader, "a b~c*")
	signed, _, err := v4.NewSigner().PresignHTTP(t.Context(), aws.Credentials{AccessKeyID: "AKIDTEST", SecretAccessKey: "stage-secret"},
		req, hexSHA256(""), "sts", "eu-west-1", at)
	if err != nil {
		t.Fatal(err)
	}
	token := tokenPrefix + base64.RawURLEncoding.EncodeToString([]byte(signed))
	if _, err := VerifyClusterToken(token, "a b~c*", at, secretForTest); err != nil {
		t.Error(err)
	}
}

func FuzzVerifyClusterToken(f *testing.F) {
	at := time.Date(2026, 11, 20, 21, 0, 0, 0, time.UTC)
	for _, raw := range []string{
		"https://sts.us-west-2.amazonaws.com/?Action=GetCallerIdentity&Version=2011-06-15&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIDTEST%2F20261120%2Fus-west-2%2Fsts%2Faws4_request&X-Amz-Date=20261120T210000Z&X-Amz-Expires=60&X-Amz-SignedHeaders=host%3Bx-k8s-aws-id&X-Amz-Signature=00",
		"http://[::1]:80", "https://sts.amazonaws.com/?%", "",
	} {
		f.Add(tokenPrefix + base64.RawURLEncoding.EncodeToString([]byte(raw)))
	}
	f.Fuzz(func(t *testing.T, token string) {
		arn, err := VerifyClusterToken(token, "prod", at, secretForTest)
		var te *TokenError
		if arn != "" || !errors.As(err, &te) {
			t.Errorf("arn = %q, error = %v: only a signer can make a token", arn, err)
		}
	})
}
