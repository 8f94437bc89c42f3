package simaws

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

// session is a provider of temporary credentials.
type session aws.Credentials

func (s session) Retrieve(context.Context) (aws.Credentials, error) { return aws.Credentials(s), nil }

func TestAssumeRole(t *testing.T) {
	const reader = "arn:aws:iam::" + testAccount + ":role/reader"
	now := time.Now()
	c := start(t, func(cfg *Config) {
		cfg.Wall = func() time.Time { return now }
		cfg.MayAssume = func(caller Identity, in *sts.AssumeRoleInput) (bool, error) {
			if caller.Name == "report" {
				return false, errors.New("its policy cannot be read")
			}
			return caller.Name == "join-check" && aws.ToString(in.RoleArn) == reader, nil
		}
	})
	assume := func(name, role string, seconds int32) (*sts.AssumeRoleOutput, error) {
		id := RoleIdentity(testAccount, name)
		if name == "you" {
			id = AdminIdentity(testAccount, name)
		}
		in := &sts.AssumeRoleInput{RoleArn: aws.String(role), RoleSessionName: aws.String("rollcall-join-check")}
		if seconds > 0 {
			in.DurationSeconds = aws.Int32(seconds)
		}
		return sts.NewFromConfig(c.sdk(id)).AssumeRole(t.Context(), in)
	}
	for _, test := range []struct {
		name, caller, role string
		seconds            int32
		code               string
	}{
		{"another's", "you", reader, 0, "AccessDenied"},
		{"a role that is not there", "join-check", reader + "s", 0, "AccessDenied"},
		{"for longer than a session of a session lasts", "join-check", reader, 3601, "ValidationError"},
		{"for less than the least", "join-check", reader, 899, "ValidationError"},
		{"a policy that cannot be read", "report", reader, 0, "InternalFailure"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := assume(test.caller, test.role, test.seconds); errorCode(err) != test.code {
				t.Errorf("got %v, want %s", err, test.code)
			}
		})
	}
	out, err := assume("join-check", reader, 900)
	if err != nil {
		t.Fatal(err)
	}
	who := func(key, secret, token string) (string, error) {
		cfg := c.sdk(Identity{})
		cfg.Credentials = session{AccessKeyID: key, SecretAccessKey: secret, SessionToken: token}
		me, err := sts.NewFromConfig(cfg).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
		if err != nil {
			return "", err
		}
		return aws.ToString(me.Arn), nil
	}
	k := out.Credentials
	key, secret, token := aws.ToString(k.AccessKeyId), aws.ToString(k.SecretAccessKey), aws.ToString(k.SessionToken)
	const want = "arn:aws:sts::" + testAccount + ":assumed-role/reader/rollcall-join-check"
	if got, err := who(key, secret, token); got != want || err != nil || aws.ToString(out.AssumedRoleUser.Arn) != want || key[:4] != "ASIA" {
		t.Errorf("it is %s (%v), want %s", got, err, want)
	}
	for name, token := range map[string]string{"without its token": "", "with another token": "x" + token} {
		if got, err := who(key, secret, token); errorCode(err) != "InvalidClientTokenId" {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	now = now.Add(15*time.Minute - time.Second)
	if _, err := who(key, secret, token); err != nil {
		t.Errorf("before its end: %v", err)
	}
	now = now.Add(time.Second)
	if _, err := who(key, secret, token); errorCode(err) != "InvalidClientTokenId" {
		t.Errorf("after its end: %v", err)
	}
}
