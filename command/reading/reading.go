// Package reading reads a world or a capture with the functions' own reader, over
// the wire protocols, in one process and without ports.
package reading

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"

	"rollcall/command/capture"
	"rollcall/shared/evidence"
	"rollcall/shared/gather"
	"rollcall/stage/platform/loopback"
	"rollcall/stage/platform/wire"
	"rollcall/stage/simaws"
	"rollcall/stage/simaws/kubeapi"
	"rollcall/stage/simaws/kubestate"
	"rollcall/stage/simaws/world"
	"rollcall/stage/simaws/worldfile"
)

// Account is a world or a capture as an account to be read.
type Account struct {
	ID, Region string
	// Clusters are those that EKS has.
	Clusters []string
	Now      func() time.Time
	// Faults, if any, is asked before each call.
	Faults wire.Faults

	config simaws.Config
	// scope is what a capture was asked for; nil: all.
	scope evidence.Scope
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

// OfCapture is a capture as an account, at the time when it was taken.
func OfCapture(c *capture.Capture) Account {
	answers := c.API()
	return Account{
		ID: c.Account, Region: c.Region, Clusters: c.Clusters, Now: func() time.Time { return c.Time },
		scope: c.Scope,
		config: simaws.Config{
			World: answers, Objects: c.Objects,
			// A cluster that was not described has no endpoint to go to.
			Clusters: slices.DeleteFunc(slices.Clone(c.Clusters), func(name string) bool {
				out, err := answers.DescribeCluster(&eks.DescribeClusterInput{Name: &name})
				return err != nil || out.Cluster == nil
			}),
		},
	}
}

// Open is an account that is served.
type Open struct {
	// AWS makes clients of who reads it as an administrator: what a capture's taker
	// could not read the capture refuses.
	AWS aws.Config
	// Endpoints are the ways to the clusters' Kubernetes APIs.
	Endpoints func(cluster string) (endpoint string, ca []byte, via http.RoundTripper, ok bool)
	Close     func()
}

// Open serves the account until Close is called.
func (a Account) Open(ctx context.Context) (Open, error) {
	admin, network := simaws.AdminIdentity(a.ID, "reader"), loopback.New()
	c := a.config
	c.Account, c.Region, c.Identities, c.Endpoints = a.ID, a.Region, []simaws.Identity{admin}, true
	c.Network, c.Now, c.Wall, c.Faults = network, a.Now, time.Now, a.Faults
	served, err := simaws.Start(ctx, c)
	if err != nil {
		return Open{}, fmt.Errorf("serve the account: %w", err)
	}
	return a.scoped(Open{
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
	}), nil
}

// Serve serves the account until the returned function is called, and returns
// who reads it.
func (a Account) Serve(ctx context.Context) (*gather.Reader, func(), error) {
	o, err := a.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	return gather.New(o.AWS).WithEndpoints(o.Endpoints), o.Close, nil
}

// scoped refuses what was not asked for when the capture was taken: that it is not in
// there does not say that there was none.
func (a Account) scoped(o Open) Open {
	if a.scope == nil {
		return o
	}
	o.AWS.APIOptions = append(slices.Clone(o.AWS.APIOptions), func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("RollcallScope",
			func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
				call := strings.ToLower(strings.ReplaceAll(awsmiddleware.GetServiceID(ctx), " ", "")) + ":" + awsmiddleware.GetOperationName(ctx)
				if code, message := a.refusal(evidence.File(call, in.Parameters)); code != "" {
					return middleware.InitializeOutput{}, middleware.Metadata{}, &smithy.GenericAPIError{Code: code, Message: message}
				}
				return next.HandleInitialize(ctx, in)
			}), middleware.After)
	})
	ways := o.Endpoints
	o.Endpoints = func(cluster string) (endpoint string, ca []byte, via http.RoundTripper, ok bool) {
		endpoint, ca, via, ok = ways(cluster)
		return endpoint, ca, asked{a, cluster, via}, ok
	}
	return o
}

// refusal is the code with which a question is refused, "" where it is not.
func (a Account) refusal(file string, q evidence.Question) (code, message string) {
	if file == "" {
		return "", ""
	}
	refused, covered := a.scope.Find(file, q)
	switch {
	case !covered:
		return capture.NotCaptured, fmt.Sprintf("%s.json: this was not asked for when it was kept: %v", file, q)
	case refused != nil:
		return refused.Code, refused.Message
	}
	return "", ""
}

// asked is the way to a cluster's API.
type asked struct {
	account Account
	cluster string
	via     http.RoundTripper
}

// RoundTrip gives an answer to what was asked for, and refuses the rest as an API server
// would.
func (a asked) RoundTrip(req *http.Request) (*http.Response, error) {
	code, message := a.account.refusal(evidence.KubernetesFile(a.cluster, req.URL.Path, req.URL.Query()))
	if code == "" {
		return a.via.RoundTrip(req)
	}
	status := http.StatusNotImplemented
	if code == "Forbidden" {
		status = http.StatusForbidden
	}
	body, err := json.Marshal(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": code, "message": message, "code": status})
	if err != nil {
		return nil, fmt.Errorf("refuse %s: %w", req.URL.Path, err)
	}
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}, nil
}
