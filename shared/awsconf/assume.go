package awsconf

import (
	"context"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
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
	assumed.Credentials = &roleSession{from: provider, now: now}
	return assumed
}

// roleSession keeps a role's credentials until shortly before their end, and after a refusal
// does not ask again for a while. The SDK's own cache asks beside the call that wants
// them, and goes on when that is over: in a function, into the next invocation.
type roleSession struct {
	from aws.CredentialsProvider
	now  func() time.Time

	mu    sync.Mutex
	have  aws.Credentials
	err   error
	until time.Time // the next question
}

// Retrieve gives the role's credentials; the error is STS's.
func (s *roleSession) Retrieve(ctx context.Context) (aws.Credentials, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
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
		s.have, s.err, s.until = c, err, s.now().Add(refusedFor)
	}
	return c, err
}
