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

// Assume is a configuration as a role, which cfg's credentials assume. The session is
// named in CloudTrail. Nothing is asked before the first use.
func Assume(cfg aws.Config, role, session string, now func() time.Time) aws.Config {
	client := sts.NewFromConfig(cfg, func(o *sts.Options) { o.RetryMaxAttempts = 2 })
	provider := stscreds.NewAssumeRoleProvider(client, role, func(o *stscreds.AssumeRoleOptions) { o.RoleSessionName = session })
	assumed := cfg.Copy()
	assumed.Credentials = aws.NewCredentialsCache(&patient{from: provider, now: now}, func(o *aws.CredentialsCacheOptions) { o.ExpiryWindow = assumedAhead })
	return assumed
}

// patient asks for credentials, and after a refusal not again for a while.
type patient struct {
	from  aws.CredentialsProvider
	now   func() time.Time
	mu    sync.Mutex
	err   error
	until time.Time
}

// Retrieve gives the role's credentials; the error is STS's.
func (p *patient) Retrieve(ctx context.Context) (aws.Credentials, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil && p.now().Before(p.until) {
		return aws.Credentials{}, p.err
	}
	asked, cancel := context.WithTimeout(ctx, assumeTime)
	defer cancel()
	c, err := p.from.Retrieve(asked)
	if ctx.Err() == nil { // else who asked has gone, and STS has said nothing
		p.err, p.until = err, p.now().Add(refusedFor)
	}
	return c, err
}
