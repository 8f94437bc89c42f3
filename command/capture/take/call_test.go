package take

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/google/go-cmp/cmp"

	"rollcall/shared/capture"
	"rollcall/shared/kube"
	"rollcall/tools/expect"
)

// service answers without a network.
type service func(form url.Values) (status int, body string)

// Do answers a request.
func (s service) Do(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, err
	}
	status, answer := s(form)
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(answer)), Request: r}, nil
}

func fakeConfig(s service) aws.Config {
	return aws.Config{
		Region: "us-west-2", HTTPClient: s, Credentials: credentials.NewStaticCredentialsProvider("AKID", "SECRET", ""),
		Retryer: func() aws.Retryer { return aws.NopRetryer{} },
	}
}

func faked(t *testing.T, s service) *taker {
	t.Helper()
	k, err := newTaker(Account{Config: fakeConfig(s)}, Options{}, t.TempDir())
	expect.OK(t, err)
	return k
}

func subnets(next string, ids ...string) string {
	b := "<DescribeSubnetsResponse><subnetSet>"
	for _, id := range ids {
		b += "<item><subnetId>" + id + "</subnetId></item>"
	}
	return b + "</subnetSet><nextToken>" + next + "</nextToken></DescribeSubnetsResponse>"
}

// TestPages: all pages are one answer; one that leads to
// itself is no whole list.
func TestPages(t *testing.T) {
	answers := map[string]string{"": subnets("b", "subnet-1", "subnet-2"), "b": subnets("c"), "c": subnets("", "subnet-3")}
	k := faked(t, func(form url.Values) (int, string) { return 200, answers[form.Get("NextToken")] })
	got, err := asks(k, "ec2", k.ec2.DescribeSubnets, &ec2.DescribeSubnetsInput{MaxResults: pageSize()})(t.Context())
	expect.OK(t, err)
	one := func(id string) any { return map[string]any{"SubnetId": id} }
	expect.Same(t, "the answer", got, map[string]any{"Subnets": []any{one("subnet-1"), one("subnet-2"), one("subnet-3")}})
	if k.state.Calls != 3 {
		t.Errorf("%d calls were counted, want 3", k.state.Calls)
	}
	answers["b"] = subnets("b")
	if _, err := asks(k, "ec2", k.ec2.DescribeSubnets, &ec2.DescribeSubnetsInput{})(t.Context()); !errors.Is(err, errHalf) {
		t.Errorf("a page that leads to itself: %v, want %v", err, errHalf)
	}
}

// TestRefusalOf: what errors.json has of an error.
func TestRefusalOf(t *testing.T) {
	k := faked(t, func(url.Values) (int, string) {
		return 403, `<Response><Errors><Error><Code>UnauthorizedOperation</Code><Message>You are not authorized. Encoded authorization failure message: AbCd</Message></Error></Errors></Response>`
	})
	_, denied := asks(k, "ec2", k.ec2.DescribeSubnets, &ec2.DescribeSubnetsInput{})(t.Context())
	for _, test := range []struct {
		err  error
		want Refusal
	}{
		{denied, Refusal{Code: "UnauthorizedOperation", Message: "You are not authorized."}},
		{&kube.StatusError{Code: 403, Reason: "Forbidden", Message: "nodes is forbidden"}, Refusal{Code: "Forbidden", Message: "nodes is forbidden"}},
		{&kube.StatusError{Code: 404, Message: "Not Found"}, Refusal{Code: "NotFound", Message: "Not Found"}},
		{&kube.StatusError{Code: 401, Message: "Unauthorized"}, Refusal{Code: "Unauthorized", Message: "Unauthorized"}},
		{&kube.StatusError{Code: 503, Message: "Service Unavailable"}, Refusal{Code: "503", Message: "Service Unavailable"}},
		{errHalf, Refusal{Code: "NoAnswer", Message: "a page leads to itself"}},
	} {
		expect.Equal(t, fmt.Sprint(test.err), capture.RefusalOf(test.err), test.want)
	}
}

// TestWithinTheBuckets: no more calls of one of EC2's APIs than half its bucket at once,
// and half of what comes back after; another API has a bucket of its own, and the calls
// of one other service share one.
func TestWithinTheBuckets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits()
		began := time.Now()
		times := func(n int, service, operation string) time.Duration {
			for range n {
				leave, err := l.enter(t.Context(), service, operation)
				expect.OK(t, err)
				leave()
			}
			return time.Since(began)
		}
		got := []time.Duration{times(50, "ec2", "A"), times(50, "ec2", "B"), times(100, "ec2", "A"), times(20, "iam", "A"), times(10, "iam", "B"), times(3, "cloudtrail", "")}
		want := []time.Duration{0, 0, 10 * time.Second, 10 * time.Second, 11 * time.Second, 12 * time.Second}
		expect.Same(t, "when calls were made", got, want, cmp.Comparer(func(a, b time.Duration) bool { return (a - b).Abs() < time.Millisecond }))
	})
}

// pod is one object as the API's lists have it.
func pod(name string) string {
	return `{"metadata": {"name": "` + name + `", "managedFields": [{"manager": "kubelet"}]}}`
}

// lists is a cluster's API that has a list of pages.
type lists struct {
	pages map[string]string
	fails map[string]error
}

// Raw answers with a page.
func (l lists) Raw(_ context.Context, path string, query url.Values) (json.RawMessage, error) {
	if query.Get("limit") == "" {
		return nil, errors.New("the list is asked for as a whole")
	}
	at := query.Get("continue")
	err := l.fails[at]
	delete(l.fails, at)
	return json.RawMessage(l.pages[at]), err
}

// Close does nothing.
func (lists) Close() {}

// TestObjects: pages in one list as kubectl prints it; it is begun again, once, when its
// pages ran out.
func TestObjects(t *testing.T) {
	k := faked(t, nil)
	page := func(next string, items ...string) string {
		return `{"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "7", "continue": "` + next + `"}, "items": [` + strings.Join(items, ", ") + `]}`
	}
	gone := func() error { return &kube.StatusError{Code: 410, Reason: "Expired"} }
	api := lists{pages: map[string]string{"": page("b", pod("one")), "b": page("", pod("two"))}, fails: map[string]error{"b": gone()}}
	got, err := k.objects(t.Context(), api, "/api/v1/pods")
	expect.OK(t, err)
	item := func(name string) any {
		return map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": name}}
	}
	want := map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{"resourceVersion": ""}, "items": []any{item("one"), item("two")}}
	expect.Same(t, "the list", got, want)
	api = lists{pages: api.pages, fails: map[string]error{"": gone()}}
	api.pages["b"] = page("b")
	if _, err := k.objects(t.Context(), api, "/api/v1/pods"); !errors.Is(err, errHalf) {
		t.Errorf("a page that leads to itself: %v, want %v", err, errHalf)
	}
}

// TestPlace: without its certificate a cluster cannot be asked.
func TestPlace(t *testing.T) {
	tree := map[string]any{"cluster": map[string]any{"endpoint": "https://x", "certificateAuthority": map[string]any{"data": base64.StdEncoding.EncodeToString([]byte("PEM"))}}}
	got, ok := place("prod", tree)
	if diff := cmp.Diff(Cluster{"prod", "https://x", []byte("PEM")}, got); diff != "" || !ok {
		t.Errorf("%t (-want +got):\n%s", ok, diff)
	}
	if _, ok := place("prod", nil); ok {
		t.Error("a cluster that could not be described has a place")
	}
}

// TestLogGroups: those of the clusters' own logs of EKS Auto Mode; a bucket is none.
func TestLogGroups(t *testing.T) {
	object := func(pairs ...any) any {
		m := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i].(string)] = pairs[i+1]
		}
		return m
	}
	source := func(name, kind string, of ...any) any {
		return object("name", name, "logType", kind, "resourceArns", of)
	}
	delivery := func(from, to string) any { return object("deliverySourceName", from, "deliveryDestinationArn", to) }
	destination := func(at, to string) any {
		return object("arn", at, "deliveryDestinationConfiguration", object("destinationResourceArn", to))
	}
	got := logGroups([]string{"prod"},
		map[string]any{"deliverySources": []any{source("own", "AUTO_MODE_COMPUTE_LOGS", "prod"), source("other", "AUTO_MODE_COMPUTE_LOGS", "dev"), source("api", "ACCESS_LOGS", "prod")}},
		map[string]any{"deliveries": []any{delivery("own", "d1"), delivery("own", "d2"), delivery("other", "d3"), delivery("api", "d3")}},
		map[string]any{"deliveryDestinations": []any{
			destination("d1", "arn:aws:logs:us-west-2:111122223333:log-group:/aws/eks/prod:*"), destination("d2", "arn:aws:s3:::bucket"), destination("d3", "arn:aws:logs:us-west-2:111122223333:log-group:no"),
		}})
	expect.Same(t, "log groups", got, []string{"/aws/eks/prod"})
}

func peering(a, b string) any {
	return map[string]any{"RequesterVpcInfo": map[string]any{"VpcId": a}, "AccepterVpcInfo": map[string]any{"VpcId": b}}
}

func attachment(gateway, kind, id string) any {
	return map[string]any{"TransitGatewayId": gateway, "ResourceType": kind, "ResourceId": id}
}

// TestConnected: the VPCs at the other end of a peering of one's own, and on the same
// transit gateways; not those that only these lead to.
func TestConnected(t *testing.T) {
	peerings := map[string]any{"VpcPeeringConnections": []any{peering("vpc-own", "vpc-a"), peering("vpc-b", "vpc-own"), peering("vpc-a", "vpc-far")}}
	attachments := map[string]any{"TransitGatewayAttachments": []any{
		attachment("tgw-1", "vpc", "vpc-own"), attachment("tgw-1", "vpc", "vpc-hub"), attachment("tgw-1", "vpn", "vpn-1"), attachment("tgw-2", "vpc", "vpc-stranger"),
	}}
	expect.Same(t, "connected VPCs", connected([]string{"vpc-own"}, peerings, attachments), []string{"vpc-a", "vpc-b", "vpc-hub", "vpc-own"})
}

// TestScope: VPCs of clusters and nodes are all taken; of those beside them as many as
// there is room for, and the rest is reported.
func TestScope(t *testing.T) {
	k := faked(t, nil)
	var attachments []any
	for i := range 30 {
		attachments = append(attachments, attachment("tgw-1", "vpc", fmt.Sprintf("vpc-%02d", i)))
	}
	found := region{cluster: cluster{vpcs: []string{"vpc-own"}}}
	found.nodes = map[string]any{"Reservations": []any{map[string]any{"Instances": []any{map[string]any{"VpcId": "vpc-nodes"}}}}}
	found.attachments = map[string]any{"TransitGatewayAttachments": append(attachments, attachment("tgw-1", "vpc", "vpc-nodes"))}
	got := k.scope(&found)
	if len(got) != mostVPCs+2 || got[0] != "vpc-00" || got[len(got)-2] != "vpc-nodes" || got[len(got)-1] != "vpc-own" {
		t.Errorf("scope %s", got)
	}
	if len(k.leftOut) != 10 || k.leftOut[0].File != "ec2-describe-vpcs" {
		t.Errorf("left out: %+v, want 10 VPCs", k.leftOut)
	}
	if got := k.scope(&region{}); got != nil {
		t.Errorf("of no cluster: %s, want all", got)
	}
	if got := k.nodes(context.Background(), nil); got != nil {
		t.Errorf("nodes of no cluster: %v", got)
	}
}
