package simaws

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	ststypes "github.com/aws/aws-sdk-go-v2/service/sts/types"

	"rollcall/local/platform/wire"
)

// getCallerIdentity tells who signed the request.
func (c *Cloud) getCallerIdentity(_ context.Context, call *wire.Call, _ *sts.GetCallerIdentityInput) (*sts.GetCallerIdentityOutput, error) {
	id, _ := c.keys.of(call.AccessKeyID)
	return &sts.GetCallerIdentityOutput{
		Account: aws.String(call.Principal.Account),
		Arn:     aws.String(call.Principal.ARN),
		UserId:  aws.String(id.userID()),
	}, nil
}

// Times of a session (STS API reference, AssumeRole, "DurationSeconds": from 900
// seconds, 3,600 by default; "role chaining limits your role session to a maximum of
// one hour", and a request for more fails). A function's role is a session itself.
const (
	sessionTime  = time.Hour
	leastSession = 15 * time.Minute
)

// assumeRole gives a session of a role to those whom its trust policy names and whose
// own policies let them. Who may not, and who asks for a role that is not there, get
// the same answer: STS does not tell whether a role exists.
func (c *Cloud) assumeRole(_ context.Context, call *wire.Call, in *sts.AssumeRoleInput) (*sts.AssumeRoleOutput, error) {
	caller, _ := c.keys.of(call.AccessKeyID)
	life := sessionTime
	if in.DurationSeconds != nil {
		life = time.Duration(*in.DurationSeconds) * time.Second
	}
	if life > sessionTime || life < leastSession {
		return nil, &wire.Error{Code: "ValidationError", Status: http.StatusBadRequest, Message: "The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining"}
	}
	ok := false
	if c.cfg.MayAssume != nil {
		var err error
		if ok, err = c.cfg.MayAssume(caller, in); err != nil {
			return nil, fmt.Errorf("may %s assume %s: %w", caller.ARN, aws.ToString(in.RoleArn), err)
		}
	}
	if !ok {
		return nil, &wire.Error{Code: "AccessDenied", Status: http.StatusForbidden,
			Message: fmt.Sprintf("User: %s is not authorized to perform: sts:AssumeRole on resource: %s", caller.ARN, aws.ToString(in.RoleArn))}
	}
	owner := c.cfg.Account
	if part := strings.Split(aws.ToString(in.RoleArn), ":"); len(part) == 6 {
		owner = part[4]
	}
	who := assumed(owner, aws.ToString(in.RoleArn), aws.ToString(in.RoleSessionName), c.cfg.Wall(), life)
	who.Admin = caller.Admin
	if owner == c.cfg.Account {
		c.keys.add(who)
	}
	if c.cfg.Assumed != nil {
		c.cfg.Assumed(who)
	}
	return &sts.AssumeRoleOutput{
		AssumedRoleUser: &ststypes.AssumedRoleUser{Arn: aws.String(who.ARN), AssumedRoleId: aws.String(who.userID())},
		Credentials: &ststypes.Credentials{
			AccessKeyId: aws.String(who.AccessKeyID), SecretAccessKey: aws.String(who.SecretAccessKey),
			SessionToken: aws.String(who.SessionToken), Expiration: aws.Time(who.Expires),
		},
	}, nil
}
