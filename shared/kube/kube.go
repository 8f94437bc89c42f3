// Package kube reads the few things that Rollcall needs from a cluster's
// Kubernetes API, with net/http and a few structs: a client library would
// triple the size of a function and double its start-up time.
package kube

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// Client talks to one cluster.
type Client struct {
	http  *http.Client
	base  *url.URL
	token string
	// answered, if any, receives each answer, or how a request failed.
	answered Answered
}

// Answered takes an answer of the API, whose body is not written to afterwards, or how a
// request failed.
type Answered = func(path string, query url.Values, body []byte, err error)

// Telling has each answer told.
func (c *Client) Telling(to Answered) *Client {
	c.answered = to
	return c
}

// Limits: a cluster whose endpoint is private and out of reach drops packets,
// so silence must end well before the function's own deadline.
const (
	dialTimeout = 4 * time.Second
	headTimeout = 10 * time.Second
	// pageSize is kubectl's: a page of nodes is a few megabytes.
	pageSize = 500
	// maxBody guards the function's memory (256 MiB) against a broken answer.
	maxBody = 64 << 20
)

// New makes a client for the cluster at endpoint, which must present a
// certificate of the authority ca (PEM).
func New(endpoint string, ca []byte, token string) (*Client, error) {
	return NewVia(nil, endpoint, ca, token)
}

// NewVia makes a client whose requests go by via, where that is not nil, in place of
// a connection.
func NewVia(via http.RoundTripper, endpoint string, ca []byte, token string) (*Client, error) {
	base, err := url.Parse(endpoint)
	if err != nil || base.Scheme != "https" || base.Host == "" {
		return nil, fmt.Errorf("cluster endpoint %q is not an https address", endpoint)
	}
	if via == nil {
		if via, err = Transport(ca); err != nil {
			return nil, err
		}
	}
	return &Client{
		base:  base,
		token: token,
		http: &http.Client{
			// A redirect would carry the token elsewhere.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Transport:     via,
		},
	}, nil
}

// Transport connects to a cluster, which must present a certificate of the authority
// ca (PEM).
func Transport(ca []byte) (*http.Transport, error) {
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		return nil, errors.New("the cluster's certificate authority holds no certificate")
	}
	return &http.Transport{
		DialContext:           (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSClientConfig:       &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:   dialTimeout,
		ResponseHeaderTimeout: headTimeout,
		ForceAttemptHTTP2:     true,
	}, nil
}

// Close drops the client's connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// StatusError is an answer of the API other than success.
type StatusError struct {
	Code    int // HTTP
	Reason  string
	Message string
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("kubernetes answered %d %s: %s", e.Code, e.Reason, e.Message)
}

// get decodes the object at path into out.
func (c *Client) get(ctx context.Context, path string, query url.Values, out any) error {
	if c.answered == nil {
		return c.try(ctx, path, query, func(body io.Reader) error { return json.NewDecoder(body).Decode(out) })
	}
	var all []byte
	err := c.try(ctx, path, query, func(body io.Reader) (err error) {
		if all, err = io.ReadAll(body); err != nil {
			return err
		}
		return json.Unmarshal(all, out)
	})
	c.answered(path, query, all, err)
	return err
}

// try gives the body of the object at path to decode.
func (c *Client) try(ctx context.Context, path string, query url.Values, decode func(io.Reader) error) error {
	u := c.base.JoinPath(path)
	u.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return fmt.Errorf("get %s: %w", path, err)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("User-Agent", "rollcall")
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("get %s: %w", path, err)
	}
	defer resp.Body.Close()
	body := io.LimitReader(resp.Body, maxBody)
	if resp.StatusCode != http.StatusOK {
		return status(resp, body)
	}
	if err := decode(body); err != nil {
		return fmt.Errorf("get %s: decode: %w", path, err)
	}
	return nil
}

func status(resp *http.Response, body io.Reader) error {
	var s struct {
		Reason  string `json:"reason"`
		Message string `json:"message"`
	}
	// Proxies in between answer with pages of their own; then the code alone must do.
	if json.NewDecoder(body).Decode(&s) != nil || s.Message == "" {
		s.Message = http.StatusText(resp.StatusCode)
	}
	return &StatusError{Code: resp.StatusCode, Reason: s.Reason, Message: s.Message}
}

// ConfigMap is what is read of a v1 ConfigMap.
type ConfigMap struct {
	Data map[string]string `json:"data"`
}

// AWSAuth gets the ConfigMap aws-auth; nil where there is none.
func (c *Client) AWSAuth(ctx context.Context) (*ConfigMap, error) {
	return object[ConfigMap](ctx, c, "configmap aws-auth", "/api/v1/namespaces/kube-system/configmaps/aws-auth")
}

// DaemonSet is what is read of an apps/v1 DaemonSet.
type DaemonSet struct {
	Spec struct {
		Template struct {
			Spec struct {
				Containers []Container `json:"containers"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
	Status struct {
		DesiredNumberScheduled int `json:"desiredNumberScheduled"`
		NumberReady            int `json:"numberReady"`
	} `json:"status"`
}

// Container is a container of a pod's template.
type Container struct {
	Name  string   `json:"name"`
	Image string   `json:"image"`
	Env   []EnvVar `json:"env"`
}

// EnvVar is a variable of a container's environment. Its value is empty where
// it comes from elsewhere, such as a field of the pod.
type EnvVar struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// ServiceAccount is what is read of a v1 ServiceAccount.
type ServiceAccount struct {
	Metadata struct {
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
}

// CNIDaemonSet gets the DaemonSet of the VPC CNI; nil where there is none.
func (c *Client) CNIDaemonSet(ctx context.Context) (*DaemonSet, error) {
	return object[DaemonSet](ctx, c, "daemonset aws-node", "/apis/apps/v1/namespaces/kube-system/daemonsets/aws-node")
}

// CNIServiceAccount gets the service account of the VPC CNI; nil where there
// is none.
func (c *Client) CNIServiceAccount(ctx context.Context) (*ServiceAccount, error) {
	return object[ServiceAccount](ctx, c, "serviceaccount aws-node", "/api/v1/namespaces/kube-system/serviceaccounts/aws-node")
}

// CSR is what is read of a certificates.k8s.io/v1 CertificateSigningRequest.
type CSR struct {
	Metadata struct {
		Name              string    `json:"name"`
		CreationTimestamp time.Time `json:"creationTimestamp"`
	} `json:"metadata"`
	Spec struct {
		SignerName string `json:"signerName"`
		Username   string `json:"username"`
	} `json:"spec"`
	Status struct {
		Conditions []struct {
			Type string `json:"type"` // Approved, Denied, Failed
		} `json:"conditions"`
	} `json:"status"`
}

// maxCSRs bounds the requests that are read. Kubernetes keeps one that is
// approved for an hour and one that is pending for a day: a cluster of a
// thousand nodes has a few thousand.
const maxCSRs = 10_000

// CSRs lists the certificate signing requests.
func (c *Client) CSRs(ctx context.Context) ([]CSR, error) {
	return list[CSR](ctx, c, "certificate signing requests", "/apis/certificates.k8s.io/v1/certificatesigningrequests", nil, maxCSRs)
}

// ENIConfig is what is read of a crd.k8s.amazonaws.com/v1alpha1 ENIConfig.
type ENIConfig struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Subnet         string   `json:"subnet"`
		SecurityGroups []string `json:"securityGroups"`
	} `json:"spec"`
}

// ENIConfigs lists the objects of the VPC CNI's custom networking; none where
// the cluster does not know the kind.
func (c *Client) ENIConfigs(ctx context.Context) ([]ENIConfig, error) {
	return installed(list[ENIConfig](ctx, c, "eniconfigs", "/apis/crd.k8s.amazonaws.com/v1alpha1/eniconfigs", nil, 0))
}

// Event is what is read of a v1 Event.
type Event struct {
	Metadata struct {
		CreationTimestamp time.Time `json:"creationTimestamp"`
	} `json:"metadata"`
	InvolvedObject struct {
		Kind      string `json:"kind"`
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
	} `json:"involvedObject"`
	Reason string `json:"reason"`
	Source struct {
		Component string `json:"component"`
	} `json:"source"`
	ReportingComponent string `json:"reportingComponent"`
	Message            string `json:"message"`
	// FirstTimestamp is when it was first seen; not set by the newer API.
	FirstTimestamp time.Time `json:"firstTimestamp"`
	// One of these is when it was last seen: events of the newer API have
	// EventTime and Series, and a series that repeats is newer than its event.
	LastTimestamp time.Time `json:"lastTimestamp"`
	EventTime     time.Time `json:"eventTime"`
	Series        *struct {
		LastObservedTime time.Time `json:"lastObservedTime"`
	} `json:"series"`
}

// Reporter is the component that reports it: of the older API, or of the newer.
func (e Event) Reporter() string { return cmp.Or(e.Source.Component, e.ReportingComponent) }

// maxEvents bounds the events that are read. EKS keeps them for an hour; a
// node that joins makes about ten.
const maxEvents = 10_000

// NodeEvents lists the events about nodes, which are in the namespace default.
func (c *Client) NodeEvents(ctx context.Context) ([]Event, error) {
	return list[Event](ctx, c, "events in default", "/api/v1/namespaces/default/events", url.Values{"fieldSelector": {"involvedObject.kind=Node"}}, maxEvents)
}

// PodWarnings lists the warnings about pods of all namespaces (kubernetes
// pkg/registry/core/event/strategy.go, ToSelectableFields: type is one of the fields).
func (c *Client) PodWarnings(ctx context.Context) ([]Event, error) {
	return list[Event](ctx, c, "events of pods", "/api/v1/events", url.Values{"fieldSelector": {"involvedObject.kind=Pod,type=Warning"}}, maxEvents)
}

// PoolEvents lists the events about NodeClaims and NodePools. They belong to no
// namespace, so their events are in the namespace default (k8s.io/client-go
// tools/record, makeEvent).
func (c *Client) PoolEvents(ctx context.Context) ([]Event, error) {
	var all []Event
	for _, kind := range []string{"NodeClaim", "NodePool"} {
		more, err := list[Event](ctx, c, "events in default", "/api/v1/namespaces/default/events", url.Values{"fieldSelector": {"involvedObject.kind=" + kind}}, maxEvents)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// SchedulingEvents lists the events about pods that could not be scheduled, of the
// scheduler and of Karpenter.
func (c *Client) SchedulingEvents(ctx context.Context) ([]Event, error) {
	return list[Event](ctx, c, "events", "/api/v1/events", url.Values{"fieldSelector": {"involvedObject.kind=Pod,reason=FailedScheduling"}}, maxEvents)
}

// Karpenter's objects belong to no namespace. Self-managed Karpenter and EKS
// Auto Mode have the same NodePools and NodeClaims, and each its own classes
// (kubernetes-sigs/karpenter pkg/apis/crds, aws/karpenter-provider-aws
// pkg/apis/crds; Amazon EKS User Guide, "Create a Node Class").
const (
	nodePoolsPath       = "/apis/karpenter.sh/v1/nodepools"
	nodeClaimsPath      = "/apis/karpenter.sh/v1/nodeclaims"
	ec2NodeClassesPath  = "/apis/karpenter.k8s.aws/v1/ec2nodeclasses"
	autoNodeClassesPath = "/apis/eks.amazonaws.com/v1/nodeclasses"
)

// The most that is read: a cluster has a NodeClaim for each of its nodes, of
// which EKS takes a hundred thousand and Karpenter is tested with some thousand,
// and tens of pools and classes.
const (
	maxNodeClaims  = 20_000
	maxNodePools   = 2000
	maxNodeClasses = 2000
)

// ObjectMeta is what is read of a custom object's metadata.
type ObjectMeta struct {
	Name string `json:"name"`
	// Generation counts the changes of the object's spec.
	Generation        int64             `json:"generation"`
	CreationTimestamp time.Time         `json:"creationTimestamp"`
	DeletionTimestamp time.Time         `json:"deletionTimestamp"` // zero where it is not being deleted
	Labels            map[string]string `json:"labels"`
}

// ObservedCondition is a condition of a custom object.
type ObservedCondition struct {
	Condition
	// ObservedGeneration is the generation that it is about; 0 where it does not
	// say.
	ObservedGeneration int64 `json:"observedGeneration"`
}

// Quantity is an amount as the object has it: "100", "1000Gi". The schema takes
// numbers too (x-kubernetes-int-or-string).
type Quantity string

// UnmarshalJSON takes a text or a number.
func (q *Quantity) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '"' {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return err
		}
		*q = Quantity(text)
		return nil
	}
	var n json.Number
	if err := json.Unmarshal(raw, &n); err != nil {
		return err
	}
	*q = Quantity(n)
	return nil
}

// NodeClassRef names a class. Its group is karpenter.k8s.aws or
// eks.amazonaws.com.
type NodeClassRef struct {
	Group string `json:"group"`
	Kind  string `json:"kind"`
	Name  string `json:"name"`
}

// NodePool is what is read of a karpenter.sh/v1 NodePool.
type NodePool struct {
	Metadata ObjectMeta `json:"metadata"`
	Spec     struct {
		Weight int                 `json:"weight"`
		Limits map[string]Quantity `json:"limits"`
		// Replicas is set for a static pool (kubernetes-sigs/karpenter pkg/apis/v1/nodepool.go).
		Replicas *int `json:"replicas"`
		Template struct {
			Metadata struct {
				Labels map[string]string `json:"labels"`
			} `json:"metadata"`
			Spec struct {
				NodeClassRef NodeClassRef  `json:"nodeClassRef"`
				Requirements []Requirement `json:"requirements"`
				Taints       []Taint       `json:"taints"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
	Status struct {
		// Resources are what its nodes have, those that are being launched among them.
		Resources  map[string]Quantity `json:"resources"`
		Conditions []ObservedCondition `json:"conditions"`
	} `json:"status"`
}

// NodeClaim is what is read of a karpenter.sh/v1 NodeClaim.
type NodeClaim struct {
	Metadata ObjectMeta `json:"metadata"`
	Spec     struct {
		NodeClassRef NodeClassRef `json:"nodeClassRef"`
	} `json:"spec"`
	Status struct {
		// ProviderID is empty until an instance is launched, NodeName until it registers.
		ProviderID string              `json:"providerID"`
		NodeName   string              `json:"nodeName"`
		Conditions []ObservedCondition `json:"conditions"`
	} `json:"status"`
}

// NodeClass is what is read of a karpenter.k8s.aws/v1 EC2NodeClass and of an
// eks.amazonaws.com/v1 NodeClass.
type NodeClass struct {
	Metadata ObjectMeta `json:"metadata"`
	Spec     struct {
		SubnetSelectorTerms        []SelectorTerm `json:"subnetSelectorTerms"`
		SecurityGroupSelectorTerms []SelectorTerm `json:"securityGroupSelectorTerms"`
		AMISelectorTerms           []SelectorTerm `json:"amiSelectorTerms"`
		Role                       string         `json:"role"`
		InstanceProfile            string         `json:"instanceProfile"`
		AMIFamily                  string         `json:"amiFamily"`
		UserData                   string         `json:"userData"`
		// Tags are those that its instances get: of an EC2NodeClass (aws/karpenter-provider-aws
		// pkg/apis/v1/ec2nodeclass.go) and of a NodeClass (EKS user guide, "Create a Node Class").
		Tags                     map[string]string `json:"tags"`
		AssociatePublicIPAddress *bool             `json:"associatePublicIPAddress"`
		MetadataOptions          struct {
			HTTPEndpoint            string `json:"httpEndpoint"`
			HTTPPutResponseHopLimit int    `json:"httpPutResponseHopLimit"`
			HTTPTokens              string `json:"httpTokens"`
		} `json:"metadataOptions"`
	} `json:"spec"`
	Status struct {
		// Subnets are those that the terms select (aws/karpenter-provider-aws
		// pkg/apis/v1/ec2nodeclass_status.go).
		Subnets []struct {
			ID   string `json:"id"`
			Zone string `json:"zone"`
		} `json:"subnets"`
		Conditions []ObservedCondition `json:"conditions"`
	} `json:"status"`
}

// SelectorTerm is one way to be selected: all that it names must hold.
type SelectorTerm struct {
	ID    string            `json:"id"`
	Name  string            `json:"name"`
	Alias string            `json:"alias"`
	Tags  map[string]string `json:"tags"`
	// SSMParameter is of an image alone.
	SSMParameter string `json:"ssmParameter"`
	Owner        string `json:"owner"`
}

// NodePools lists the NodePools; none where the cluster does not know the kind.
func (c *Client) NodePools(ctx context.Context) ([]NodePool, error) {
	return installed(list[NodePool](ctx, c, "nodepools", nodePoolsPath, nil, maxNodePools))
}

// NodeClaims lists the NodeClaims; none where the cluster does not know the kind.
func (c *Client) NodeClaims(ctx context.Context) ([]NodeClaim, error) {
	return installed(list[NodeClaim](ctx, c, "nodeclaims", nodeClaimsPath, nil, maxNodeClaims))
}

// EC2NodeClasses lists Karpenter's classes; none where the cluster does not know
// the kind.
func (c *Client) EC2NodeClasses(ctx context.Context) ([]NodeClass, error) {
	return installed(list[NodeClass](ctx, c, "ec2nodeclasses", ec2NodeClassesPath, nil, maxNodeClasses))
}

// AutoNodeClasses lists EKS Auto Mode's classes; none where the cluster does not
// know the kind.
func (c *Client) AutoNodeClasses(ctx context.Context) ([]NodeClass, error) {
	return installed(list[NodeClass](ctx, c, "nodeclasses", autoNodeClassesPath, nil, maxNodeClasses))
}

// installed makes an empty list of the answer that the cluster does not have the
// kind.
func installed[T any](all []T, err error) ([]T, error) {
	var s *StatusError
	if errors.As(err, &s) && s.Code == http.StatusNotFound {
		return nil, nil
	}
	return all, err
}

// TooManyError is a list that is longer than is read of it.
type TooManyError struct {
	What string
	Most int
}

func (e *TooManyError) Error() string {
	return fmt.Sprintf("there are more than %d %s", e.Most, e.What)
}

type page[T any] struct {
	Metadata struct {
		Continue string `json:"continue"`
	} `json:"metadata"`
	Items []T `json:"items"`
}

// list reads all objects at path that the selectors in query admit, but not
// more than most (0: no limit). A list that changed so long that its pages
// expired is begun again, once.
func list[T any](ctx context.Context, c *Client, what, path string, query url.Values, most int) ([]T, error) {
	all, err := pages[T](ctx, c, what, path, query, most)
	var s *StatusError
	if errors.As(err, &s) && s.Code == http.StatusGone {
		all, err = pages[T](ctx, c, what, path, query, most)
	}
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", what, err)
	}
	return all, nil
}

func pages[T any](ctx context.Context, c *Client, what, path string, selectors url.Values, most int) ([]T, error) {
	var all []T
	size := pageSize
	query := url.Values{"limit": {strconv.Itoa(size)}}
	for key, values := range selectors {
		query[key] = values
	}
	for {
		var p page[T]
		err := c.get(ctx, path, query, &p)
		if tooLarge(err) && size > leastPage {
			// What leads to the next page leads to a smaller one too (Kubernetes, "API
			// concepts", "Retrieving large results sets in chunks").
			size /= 2
			query.Set("limit", strconv.Itoa(size))
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, p.Items...)
		switch {
		case most > 0 && (len(all) > most || len(all) == most && p.Metadata.Continue != ""):
			return nil, &TooManyError{What: what, Most: most}
		case p.Metadata.Continue == "":
			return all, nil
		}
		query.Set("continue", p.Metadata.Continue)
	}
}

// leastPage is the smallest page that is asked for.
const leastPage = 30

// tooLarge reports whether an answer is more than can be handed on on its way (package relay).
func tooLarge(err error) bool {
	var s *StatusError
	return errors.As(err, &s) && s.Code == http.StatusRequestEntityTooLarge
}

// object gets one object; nil for one that does not exist.
func object[T any](ctx context.Context, c *Client, what, path string) (*T, error) {
	var o T
	err := c.get(ctx, path, nil, &o)
	var s *StatusError
	if errors.As(err, &s) && s.Code == http.StatusNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", what, err)
	}
	return &o, nil
}

// Node is what is read of a v1 Node.
type Node struct {
	Metadata struct {
		Name              string            `json:"name"`
		CreationTimestamp time.Time         `json:"creationTimestamp"`
		Labels            map[string]string `json:"labels"`
		Annotations       map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		ProviderID    string  `json:"providerID"`
		Unschedulable bool    `json:"unschedulable"`
		Taints        []Taint `json:"taints"`
	} `json:"spec"`
	Status struct {
		Conditions []Condition `json:"conditions"`
		Addresses  []Address   `json:"addresses"`
		Capacity   struct {
			Pods     string `json:"pods"`
			Branches string `json:"vpc.amazonaws.com/pod-eni"` // branch interfaces
		} `json:"capacity"`
		NodeInfo struct {
			KubeletVersion string `json:"kubeletVersion"`
		} `json:"nodeInfo"`
	} `json:"status"`
}

// Taint is a taint of a node.
type Taint struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Effect string `json:"effect"`
}

// Address is an address of a node.
type Address struct {
	Type    string `json:"type"` // InternalIP, Hostname, …
	Address string `json:"address"`
}

// Condition is a condition of a node.
type Condition struct {
	Type               string    `json:"type"`
	Status             string    `json:"status"`
	Reason             string    `json:"reason"`
	Message            string    `json:"message"`
	LastTransitionTime time.Time `json:"lastTransitionTime"`
}

// Nodes lists all nodes.
func (c *Client) Nodes(ctx context.Context) ([]Node, error) {
	return list[Node](ctx, c, "nodes", "/api/v1/nodes", nil, 0)
}

// Pod is what is read of a v1 Pod.
type Pod struct {
	Metadata struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Spec struct {
		NodeName    string `json:"nodeName"`
		HostNetwork bool   `json:"hostNetwork"`
		Containers  []struct {
			Name string `json:"name"`
			// Env are the variables that have a value of their own.
			Env []struct {
				Name  string `json:"name"`
				Value string `json:"value"`
			} `json:"env"`
		} `json:"containers"`
		Volumes []struct {
			Name string `json:"name"`
		} `json:"volumes"`
	} `json:"spec"`
	Status struct {
		Phase                 string            `json:"phase"`
		Message               string            `json:"message"`
		InitContainerStatuses []ContainerStatus `json:"initContainerStatuses"`
		ContainerStatuses     []ContainerStatus `json:"containerStatuses"`
	} `json:"status"`
}

// ContainerStatus is how a container of a pod is.
type ContainerStatus struct {
	Name         string         `json:"name"`
	Ready        bool           `json:"ready"`
	RestartCount int            `json:"restartCount"`
	State        ContainerState `json:"state"`
	LastState    ContainerState `json:"lastState"`
}

// ContainerState has one of its members.
type ContainerState struct {
	Waiting    *ContainerReason `json:"waiting"`
	Running    *struct{}        `json:"running"`
	Terminated *ContainerReason `json:"terminated"`
}

// ContainerReason is why a container waits or has ended.
type ContainerReason struct {
	Reason     string    `json:"reason"`
	Message    string    `json:"message"`
	ExitCode   int       `json:"exitCode"`
	FinishedAt time.Time `json:"finishedAt"`
}

// PodsOn lists the pods of all namespaces that a node took.
func (c *Client) PodsOn(ctx context.Context, node string) ([]Pod, error) {
	return list[Pod](ctx, c, "pods of "+node, "/api/v1/pods", url.Values{"fieldSelector": {"spec.nodeName=" + node}}, 0)
}

// CNIPods lists the pods of the VPC CNI, one on each node.
func (c *Client) CNIPods(ctx context.Context) ([]Pod, error) {
	return list[Pod](ctx, c, "pods in kube-system", "/api/v1/namespaces/kube-system/pods", url.Values{"labelSelector": {"k8s-app=aws-node"}}, 0)
}

// Raw gives the object at path as the API answers it. The error is a *StatusError
// where the API answered.
func (c *Client) Raw(ctx context.Context, path string, query url.Values) (json.RawMessage, error) {
	var raw json.RawMessage
	if err := c.get(ctx, path, query, &raw); err != nil {
		return nil, err
	}
	return raw, nil
}

// Presigner signs the request that proves who we are without sending it.
type Presigner interface {
	PresignGetCallerIdentity(context.Context, *sts.GetCallerIdentityInput, ...func(*sts.PresignOptions)) (*v4.PresignedHTTPRequest, error)
}

var _ Presigner = (*sts.PresignClient)(nil)

// Token makes a bearer token for a cluster: a presigned STS request that only
// this cluster accepts, because its name is among the signed headers. The
// cluster takes it for 15 minutes (aws-iam-authenticator); it is made anew for
// each use.
func Token(ctx context.Context, presigner Presigner, cluster string) (string, error) {
	signed, err := presigner.PresignGetCallerIdentity(ctx, &sts.GetCallerIdentityInput{}, func(o *sts.PresignOptions) {
		o.ClientOptions = append(o.ClientOptions, func(o *sts.Options) {
			o.APIOptions = append(o.APIOptions,
				smithyhttp.SetHeaderValue("x-k8s-aws-id", cluster),
				// The authenticator wants it, and allows at most 60.
				smithyhttp.SetHeaderValue("X-Amz-Expires", "60"))
		})
	})
	if err != nil {
		return "", fmt.Errorf("sign a token for cluster %s: %w", cluster, err)
	}
	return "k8s-aws-v1." + base64.RawURLEncoding.EncodeToString([]byte(signed.URL)), nil
}

// mostVolumes is how many PersistentVolumes or claims are read: more is beyond
// what Kubernetes itself is tested with in one cluster.
const mostVolumes = 20_000

// PersistentVolume is what is read of a v1 PersistentVolume.
type PersistentVolume struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		StorageClassName string `json:"storageClassName"`
		ClaimRef         *struct {
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
		} `json:"claimRef"`
		CSI *struct {
			Driver       string `json:"driver"`
			VolumeHandle string `json:"volumeHandle"`
		} `json:"csi"`
		// AWS is the form of older Kubernetes versions.
		AWS *struct {
			VolumeID string `json:"volumeID"`
		} `json:"awsElasticBlockStore"`
		NodeAffinity *struct {
			Required *NodeSelector `json:"required"`
		} `json:"nodeAffinity"`
	} `json:"spec"`
	Status struct {
		Phase string `json:"phase"`
	} `json:"status"`
}

// NodeSelector is a v1 NodeSelector: one of its terms must hold.
type NodeSelector struct {
	Terms []NodeSelectorTerm `json:"nodeSelectorTerms"`
}

// NodeSelectorTerm is one of a selector's terms: all of it must hold.
type NodeSelectorTerm struct {
	Labels []Requirement `json:"matchExpressions"`
	Fields []Requirement `json:"matchFields"`
}

// Requirement is one condition on a node's label or field.
type Requirement struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values"`
}

// PersistentVolumeClaim is what is read of a v1 PersistentVolumeClaim.
type PersistentVolumeClaim struct {
	Metadata struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Spec struct {
		StorageClassName string `json:"storageClassName"`
		VolumeName       string `json:"volumeName"`
	} `json:"spec"`
	Status struct {
		Phase string `json:"phase"`
	} `json:"status"`
}

// PersistentVolumes lists all PersistentVolumes.
func (c *Client) PersistentVolumes(ctx context.Context) ([]PersistentVolume, error) {
	return list[PersistentVolume](ctx, c, "persistentvolumes", "/api/v1/persistentvolumes", nil, mostVolumes)
}

// PersistentVolumeClaims lists the claims of all namespaces.
func (c *Client) PersistentVolumeClaims(ctx context.Context) ([]PersistentVolumeClaim, error) {
	return list[PersistentVolumeClaim](ctx, c, "persistentvolumeclaims", "/api/v1/persistentvolumeclaims", nil, mostVolumes)
}

// mostWaiting is how many pending pods are read: of more no one would read the
// list, and a page of them is a few megabytes.
const mostWaiting = 5000

// WaitingPod is what is read of a v1 Pod that no node has taken.
type WaitingPod struct {
	Metadata struct {
		Name              string    `json:"name"`
		Namespace         string    `json:"namespace"`
		CreationTimestamp time.Time `json:"creationTimestamp"`
		// DeletionTimestamp is set on a pod that is being deleted.
		DeletionTimestamp time.Time `json:"deletionTimestamp"`
		// Annotations describe a pod's own branch interface.
		Annotations     map[string]string `json:"annotations"`
		OwnerReferences []struct {
			Kind       string `json:"kind"`
			Name       string `json:"name"`
			Controller bool   `json:"controller"`
		} `json:"ownerReferences"`
	} `json:"metadata"`
	Spec struct {
		NodeName     string            `json:"nodeName"`
		HostNetwork  bool              `json:"hostNetwork"`
		NodeSelector map[string]string `json:"nodeSelector"`
		Affinity     struct {
			NodeAffinity struct {
				Required *NodeSelector `json:"requiredDuringSchedulingIgnoredDuringExecution"`
			} `json:"nodeAffinity"`
		} `json:"affinity"`
		Tolerations []struct {
			Key      string `json:"key"`
			Operator string `json:"operator"`
			Value    string `json:"value"`
			Effect   string `json:"effect"`
		} `json:"tolerations"`
		Containers []struct {
			Resources struct {
				Requests map[string]Quantity `json:"requests"`
			} `json:"resources"`
		} `json:"containers"`
		SchedulingGates []struct {
			Name string `json:"name"`
		} `json:"schedulingGates"`
		Volumes []struct {
			Name                  string `json:"name"`
			PersistentVolumeClaim *struct {
				ClaimName string `json:"claimName"`
			} `json:"persistentVolumeClaim"`
			// Ephemeral volumes have a claim that is named after the pod.
			Ephemeral *struct{} `json:"ephemeral"`
		} `json:"volumes"`
	} `json:"spec"`
	Status struct {
		Phase                 string            `json:"phase"`
		Conditions            []Condition       `json:"conditions"`
		InitContainerStatuses []ContainerStatus `json:"initContainerStatuses"`
		ContainerStatuses     []ContainerStatus `json:"containerStatuses"`
	} `json:"status"`
}

// WaitingPods lists the pods of all namespaces whose phase is Pending. Those
// whose images are being pulled are among them: they have a node.
func (c *Client) WaitingPods(ctx context.Context) ([]WaitingPod, error) {
	return list[WaitingPod](ctx, c, "pods", "/api/v1/pods", url.Values{"fieldSelector": {"status.phase=Pending"}}, mostWaiting)
}
