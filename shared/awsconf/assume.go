package awsconf

import (
	"context"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/middleware"
)

const (
	// assumedAhead is how long before they expire the credentials of a role are made
	// anew: a look of five minutes ends with those that it began with. A session that
	// a role's own session assumes lasts an hour at most, which is also the default
	// (STS API, AssumeRole, "DurationSeconds"; IAM user guide, "Role chaining").
	assumedAhead = 10 * time.Minute
	// refusedFor is how long an AssumeRole that failed is not tried again: what is
	// read meanwhile does not wait for STS each time.
	refusedFor = time.Minute
	// assumeTime is how long STS may take: who waits has another way.
	assumeTime = 5 * time.Second
)

// Role is a role to be assumed.
type Role struct {
	ARN string
	// Session is named in CloudTrail.
	Session string
	// ExternalID is "" for a role of the own account.
	ExternalID string
	// Region is where the role is used; "" is that of who assumes it.
	Region string
}

// Assume is a configuration as a role, which cfg's credentials assume, at STS in cfg's
// region: what a regional endpoint of STS gives is taken in every region that the role's
// account has enabled (IAM user guide, "Manage AWS STS in an AWS Region"). Nothing is asked
// before the first use.
func Assume(cfg aws.Config, role Role, now func() time.Time) aws.Config {
	client := sts.NewFromConfig(cfg, func(o *sts.Options) { o.RetryMaxAttempts = 2 })
	provider := stscreds.NewAssumeRoleProvider(client, role.ARN, func(o *stscreds.AssumeRoleOptions) {
		o.RoleSessionName = role.Session
		if role.ExternalID != "" {
			o.ExternalID = aws.String(role.ExternalID)
		}
	})
	assumed := cfg.Copy()
	if role.Region != "" {
		assumed.Region = role.Region
	}
	session := &roleSession{from: provider, now: now, turn: make(chan struct{}, 1)}
	assumed.Credentials = session
	assumed.APIOptions = append(slices.Clone(cfg.APIOptions), session.again)
	return assumed
}

// again makes a call once more, with new credentials, that was refused because those that
// it had are no longer known: the role was deleted, or made anew, while its session lasted.
// Without it that would be told of each service by another code, for up to an hour, before
// STS says that there is no such role.
func (s *roleSession) again(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("RollcallSession",
		func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
			out, meta, err := next.HandleInitialize(ctx, in)
			if unknownSession(Code(err)) && s.forget() {
				return next.HandleInitialize(ctx, in)
			}
			return out, meta, err
		}), middleware.After)
}

// unknownSession tells the codes by which services refuse credentials that they do not know,
// or no more (EC2 API reference, "Common client errors": AuthFailure; other services, "Common
// errors": UnrecognizedClientException, InvalidClientTokenId, ExpiredToken, ExpiredTokenException).
func unknownSession(code string) bool {
	return slices.Contains([]string{"AuthFailure", "UnrecognizedClientException", "InvalidClientTokenId", "ExpiredToken", "ExpiredTokenException"}, code)
}

// forget drops the credentials, unless they were made a moment ago: who does not know those
// does not know the account here, and will not know the next.
func (s *roleSession) forget() bool {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	if !s.have.HasKeys() || s.now().Sub(s.made) < refusedFor {
		return false
	}
	s.have = aws.Credentials{}
	return true
}

// roleSession keeps a role's credentials until shortly before their end, and after a refusal
// does not ask again for a while. The SDK's own cache asks beside the call that wants
// them, and goes on when that is over: in a function, into the next invocation.
type roleSession struct {
	from aws.CredentialsProvider
	now  func() time.Time

	// turn is held by who reads or writes what follows, also while STS is asked: the others
	// wait for its answer, but no longer than they have time.
	turn  chan struct{}
	have  aws.Credentials
	err   error
	until time.Time // the next question
	made  time.Time // the credentials
}

// Retrieve gives the role's credentials; the error is STS's.
func (s *roleSession) Retrieve(ctx context.Context) (aws.Credentials, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return aws.Credentials{}, ctx.Err()
	}
	// Credentials end by the clock of AWS, which is this machine's; on the local stage a
	// refusal is old by another.
	if s.err != nil && s.now().Before(s.until) {
		return aws.Credentials{}, s.err
	}
	if s.err == nil && s.have.HasKeys() && time.Until(s.have.Expires) > assumedAhead {
		return s.have, nil
	}
	asked, cancel := context.WithTimeout(ctx, assumeTime)
	defer cancel()
	c, err := s.from.Retrieve(asked)
	if ctx.Err() == nil { // else who asked has gone, and STS has said nothing
		s.have, s.err, s.until, s.made = c, err, s.now().Add(refusedFor), s.now()
	}
	return c, err
}
