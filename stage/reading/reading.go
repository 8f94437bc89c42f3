// Package reading reads a world with the functions' own reader, over
// the wire protocols, in one process and without ports.
package reading

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"rollcall/command/subject"
	"rollcall/shared/gather"
	"rollcall/stage/platform/loopback"
	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws"
	"rollcall/stage/simaws/kubeapi"
	"rollcall/stage/simaws/kubestate"
	"rollcall/stage/simaws/world"
	"rollcall/stage/simaws/worldfile"
)

// Account is a world as an account to be read.
type Account struct {
	ID, Region string
	// Clusters are those that EKS has.
	Clusters []string
	Now      func() time.Time
	// Faults, if any, is asked before each call.
	Faults wire.Faults

	config simaws.Config
}

// OfWorld is a world as an account. Its time is the world's.
func OfWorld(w *world.World, file *worldfile.File) Account {
	objects := func(name, plural string) ([]json.RawMessage, string, error) {
		list, err := w.Kubernetes(name, plural)
		if errors.Is(err, kubestate.ErrNoKind) {
			return nil, "", kubeapi.NotInstalled()
		}
		return list.Items, list.ResourceVersion, err
	}
	return Account{
		ID: file.Account, Region: file.Region, Clusters: w.Clusters(), Now: w.Now,
		config: simaws.Config{World: w.API(), History: w.CloudTrail(), Clusters: w.Clusters(), Objects: objects},
	}
}

// Open serves the account until Close is called.
func (a Account) Open(ctx context.Context) (subject.Account, error) {
	admin, network := simaws.AdminIdentity(a.ID, "reader"), loopback.New()
	c := a.config
	c.Account, c.Region, c.Identities, c.Endpoints = a.ID, a.Region, []simaws.Identity{admin}, true
	c.Network, c.Now, c.Wall, c.Faults = network, a.Now, time.Now, a.Faults
	served, err := simaws.Start(ctx, c)
	if err != nil {
		return subject.Account{}, fmt.Errorf("serve the account: %w", err)
	}
	return subject.Account{
		ID: a.ID, Region: a.Region, Clusters: a.Clusters, Now: a.Now,
		AWS: aws.Config{
			Region: a.Region, BaseEndpoint: aws.String(served.Endpoint()), HTTPClient: &http.Client{Transport: network},
			Credentials: credentials.NewStaticCredentialsProvider(admin.AccessKeyID, admin.SecretAccessKey, ""),
			Retryer:     func() aws.Retryer { return retry.AddWithMaxAttempts(retry.NewStandard(), 2) },
		},
		Endpoints: func(cluster string) (endpoint string, ca []byte, via http.RoundTripper, ok bool) {
			endpoint, ca, ok = served.Kubernetes(cluster)
			return endpoint, ca, network, ok
		},
		Close: served.Close,
	}, nil
}

// Serve serves the account until the returned function is called, and returns
// who reads it.
func (a Account) Serve(ctx context.Context) (*gather.Reader, func(), error) {
	o, err := a.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	return o.Reader(), o.Close, nil
}
