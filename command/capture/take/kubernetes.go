package take

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
	"golang.org/x/time/rate"

	"rollcall/shared/awsjson"
	"rollcall/shared/capture"
	"rollcall/shared/cloudtrail"
	"rollcall/shared/gather/ec2api"
	"rollcall/shared/kube"
	"rollcall/shared/node/autolog"
)

// Cluster is where a cluster's API is.
type Cluster struct {
	Name     string
	Endpoint string // of EKS
	CA       []byte // PEM
}

// Kubernetes is a cluster's API. An answer that is not a success is a *kube.StatusError.
type Kubernetes interface {
	Raw(ctx context.Context, path string, query url.Values) (json.RawMessage, error)
	Close()
}

var _ Kubernetes = (*kube.Client)(nil)

// kind is what is taken of a cluster, by the part of the file's name after kubectl-get-.
type kind struct {
	file, group, version, plural string
	// namespace and name are of a single object.
	namespace, name string
}

func kinds() []kind {
	const system = "kube-system"
	return []kind{
		{file: "nodes", version: "v1", plural: "nodes"},
		{file: "pods", version: "v1", plural: "pods"},
		{file: "pv", version: "v1", plural: "persistentvolumes"},
		{file: "pvc", version: "v1", plural: "persistentvolumeclaims"},
		{file: "events", version: "v1", plural: "events"},
		{file: "csr", group: "certificates.k8s.io", version: "v1", plural: "certificatesigningrequests"},
		{file: "daemonset-aws-node", group: "apps", version: "v1", plural: "daemonsets", namespace: system, name: "aws-node"},
		{file: "serviceaccount-aws-node", version: "v1", plural: "serviceaccounts", namespace: system, name: "aws-node"},
		{file: "configmap-aws-auth", version: "v1", plural: "configmaps", namespace: system, name: "aws-auth"},
		{file: "eniconfigs", group: "crd.k8s.amazonaws.com", version: "v1alpha1", plural: "eniconfigs"},
		{file: "nodepools", group: "karpenter.sh", version: "v1", plural: "nodepools"},
		{file: "nodeclaims", group: "karpenter.sh", version: "v1", plural: "nodeclaims"},
		{file: "ec2nodeclasses", group: "karpenter.k8s.aws", version: "v1", plural: "ec2nodeclasses"},
		{file: "nodeclasses", group: "eks.amazonaws.com", version: "v1", plural: "nodeclasses"},
		{file: "cninodes", group: "vpcresources.k8s.aws", version: "v1alpha1", plural: "cninodes"},
	}
}

// path is where the API has a kind.
func (k kind) path() string {
	parts := []string{"api", k.version}
	if k.group != "" {
		parts = []string{"apis", k.group, k.version}
	}
	if k.name != "" {
		return "/" + strings.Join(append(parts, "namespaces", k.namespace, k.plural, k.name), "/")
	}
	return "/" + strings.Join(append(parts, k.plural), "/")
}

// kubernetes takes what a cluster's own API says.
func (t *taker) kubernetes(ctx context.Context, name string, described map[string]any) cluster {
	if t.asked.Kubernetes == nil {
		return cluster{}
	}
	where, ok := place(name, described)
	if !ok {
		t.note("cluster %s: the address of its API is unknown: Kubernetes data is left out", name)
		return cluster{}
	}
	api, err := t.asked.Kubernetes(ctx, where)
	var input *InputError
	if errors.As(err, &input) {
		t.fail(err)
		return cluster{}
	}
	if err != nil {
		t.note("cluster %s: %s: what Kubernetes says is left out", name, oneLine(err))
		return cluster{}
	}
	defer api.Close()
	served := t.served(ctx, api)
	all := kinds()
	trees := make([]map[string]any, len(all))
	list(t, all, func(i int, k kind) {
		if version := served[k.group]; version != "" {
			k.version = version
		}
		trees[i] = t.take(ctx, capture.FileName("kubectl-get-"+k.file, name), func(ctx context.Context) (map[string]any, error) {
			if k.name != "" {
				return t.object(ctx, api, k.path(), nil)
			}
			return t.objects(ctx, api, k.path())
		})
	})
	var found cluster
	for i, k := range all {
		found.add(leads(k, trees[i]))
	}
	return found
}

// leads are what a cluster's objects lead to.
func leads(k kind, tree map[string]any) cluster {
	switch k.file {
	case "nodes":
		return cluster{ready: readyInstances(tree)}
	case "serviceaccount-aws-node":
		meta, _ := tree["metadata"].(map[string]any)
		annotations, _ := meta["annotations"].(map[string]any)
		if role, ok := annotations["eks.amazonaws.com/role-arn"].(string); ok {
			return cluster{roles: []string{role}}
		}
	case "nodeclasses", "ec2nodeclasses":
		return cluster{roles: picksOf(tree, "items[].spec.role"), profiles: picksOf(tree, "items[].spec.instanceProfile")}
	case "nodepools":
		var types []string
		for _, r := range nodesOf(tree, "items[].spec.template.spec.requirements[]") {
			if text(r, "key") == "node.kubernetes.io/instance-type" {
				types = append(types, picks(r, "values[]")...)
			}
		}
		return cluster{types: types}
	}
	return cluster{}
}

// instanceID is at the end of a node's provider id, aws:///us-west-2a/i-0abc.
var instanceID = regexp.MustCompile(`/(i-[0-9a-f]+)$`)

func readyInstances(tree map[string]any) []string {
	var ids []string
	for _, n := range nodesOf(tree, "items[]") {
		m := instanceID.FindStringSubmatch(text(n, "spec.providerID"))
		if m == nil {
			continue
		}
		for _, c := range nodes(n, "status.conditions[]") {
			if text(c, "type") == "Ready" && text(c, "status") == "True" {
				ids = append(ids, m[1])
			}
		}
	}
	return ids
}

// served are the versions that the API prefers, by group, as kubectl asks for them.
// Without them those that are known are asked for.
func (t *taker) served(ctx context.Context, api Kubernetes) map[string]string {
	tree, err := t.object(ctx, api, "/apis", nil)
	if err != nil {
		return nil
	}
	versions := map[string]string{}
	for _, g := range nodesOf(tree, "groups[]") {
		versions[text(g, "name")] = text(g, "preferredVersion.version")
	}
	return versions
}

// object is one object as kubectl prints it: without the fields' managers.
func (t *taker) object(ctx context.Context, api Kubernetes, path string, query url.Values) (map[string]any, error) {
	tree, _, err := t.get(ctx, api, path, query)
	withoutManagers(tree)
	return tree, err
}

func (t *taker) get(ctx context.Context, api Kubernetes, path string, query url.Values) (map[string]any, int, error) {
	leave, err := t.limits.enter(ctx, "kubernetes", "")
	if err != nil {
		return nil, 0, err
	}
	raw, err := api.Raw(ctx, path, query)
	leave()
	t.count(func() { t.state.Calls++ })
	if err != nil {
		return nil, 0, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var tree map[string]any
	if err := d.Decode(&tree); err != nil {
		return nil, 0, fmt.Errorf("read %s: %w", path, err)
	}
	return tree, len(raw), nil
}

// objectPage is kubectl's --chunk-size.
const objectPage = 500

// objects is a list of all namespaces as kubectl prints it. A list whose pages ran out
// is begun again, once (410 Gone).
func (t *taker) objects(ctx context.Context, api Kubernetes, path string) (map[string]any, error) {
	all, err := t.objectPages(ctx, api, path)
	var status *kube.StatusError
	if errors.As(err, &status) && status.Code == http.StatusGone {
		return t.objectPages(ctx, api, path)
	}
	return all, err
}

func (t *taker) objectPages(ctx context.Context, api Kubernetes, path string) (map[string]any, error) {
	items, size := []any{}, 0
	query := url.Values{"limit": {strconv.Itoa(objectPage)}}
	for {
		page, n, err := t.get(ctx, api, path, query)
		if err != nil {
			return nil, err
		}
		if size += n; size > maxBytes {
			return nil, errTooLarge
		}
		// The items of a list do not say what they are; kubectl adds it.
		kind := strings.TrimSuffix(text(page, "kind"), "List")
		for _, item := range nodesOf(page, "items[]") {
			if object, ok := item.(map[string]any); ok {
				object["apiVersion"], object["kind"] = text(page, "apiVersion"), kind
				withoutManagers(object)
				items = append(items, object)
			}
		}
		next := text(page, "metadata.continue")
		switch {
		case next == "":
			return map[string]any{"apiVersion": "v1", "kind": "List", "items": items, "metadata": map[string]any{"resourceVersion": ""}}, nil
		case next == query.Get("continue"):
			return nil, errHalf
		}
		query.Set("continue", next)
	}
}

func withoutManagers(object map[string]any) {
	if meta, ok := object["metadata"].(map[string]any); ok {
		delete(meta, "managedFields")
	}
}

// What is asked one by one is bounded; what is over is reported.
const (
	mostTemplates = 200
	mostGroups    = 300
)

// instances takes what belongs to the instances and to those that their groups would
// launch.
func (t *taker) instances(ctx context.Context, found *region) {
	all := nodesOf(found.instances, "Reservations[].Instances[]")
	ours := t.groupsOf(found.groups, found.cluster.groups)
	for _, i := range all {
		found.templates = append(found.templates, tag(i, "aws:ec2launchtemplate:id"))
		found.types = append(found.types, text(i, "InstanceType"))
	}
	for _, g := range nodesOf(found.groups, "AutoScalingGroups[]") {
		found.templates = append(found.templates, text(g, "LaunchTemplate.LaunchTemplateId"), text(g, "MixedInstancesPolicy.LaunchTemplate.LaunchTemplateSpecification.LaunchTemplateId"))
		if slices.Contains(ours, text(g, "AutoScalingGroupName")) {
			found.types = append(found.types, picks(g, "MixedInstancesPolicy.LaunchTemplate.Overrides[].InstanceType")...)
		}
	}
	var written []string
	t.parallel(
		func() { t.images(ctx, picksOf(found.instances, "Reservations[].Instances[].ImageId")) },
		func() { t.machines(ctx, all, found.ready) },
		func() { written = t.templates(ctx, present(found.templates)) },
		func() { t.activities(ctx, ours) },
		func() { t.prefixLists(ctx, found.lists) },
	)
	t.types(ctx, present(slices.Concat(found.types, written)))
}

// present are the texts of a list that are not empty, sorted, each once.
func present(list []string) []string {
	return slices.DeleteFunc(sorted(list), func(s string) bool { return s == "" })
}

// groupsOf are the Auto Scaling groups of the clusters: those of their nodegroups, and
// those that have their tags.
func (t *taker) groupsOf(groups map[string]any, ofNodegroups []string) []string {
	ours := slices.Clone(ofNodegroups)
	for _, g := range nodesOf(groups, "AutoScalingGroups[]") {
		for _, tag := range nodes(g, "Tags[]") {
			key := text(tag, "Key")
			if strings.HasPrefix(key, "kubernetes.io/cluster/") || strings.HasPrefix(key, "k8s.io/cluster/") || key == "eks:cluster-name" {
				ours = append(ours, text(g, "AutoScalingGroupName"))
			}
		}
	}
	return present(ours)
}

// chunked joins the answers for parts of a list of filter values.
func (t *taker) chunked(values []string, ask func(context.Context, []string) (map[string]any, error)) func(context.Context) (map[string]any, error) {
	return func(ctx context.Context) (map[string]any, error) {
		var all map[string]any
		for part := range slices.Chunk(values, ec2api.MaxFilterValues) {
			tree, err := ask(ctx, part)
			if err != nil {
				return nil, err
			}
			all = joined(all, tree)
		}
		return all, nil
	}
}

func (t *taker) images(ctx context.Context, ids []string) {
	if len(ids) == 0 {
		return
	}
	t.take(ctx, "ec2-describe-images", t.chunked(ids, func(ctx context.Context, part []string) (map[string]any, error) {
		return asks(t, "ec2", t.ec2.DescribeImages, &ec2.DescribeImagesInput{IncludeDeprecated: aws.Bool(true), Filters: ec2api.AnyOf("image-id", part)})(ctx)
	}))
}

// types takes the types that run or may be launched. One that is not offered here is no
// error to a filter.
func (t *taker) types(ctx context.Context, names []string) {
	if len(names) == 0 {
		return
	}
	t.take(ctx, "ec2-describe-instance-types", t.chunked(names, func(ctx context.Context, part []string) (map[string]any, error) {
		return asks(t, "ec2", t.ec2.DescribeInstanceTypes, &ec2.DescribeInstanceTypesInput{Filters: ec2api.AnyOf("instance-type", part)})(ctx)
	}))
}

// machines takes user data and console of instances that are no Ready nodes.
func (t *taker) machines(ctx context.Context, all []any, ready []string) {
	var ids []string
	for _, i := range all {
		if id := text(i, "InstanceId"); id != "" && text(i, "State.Name") != "terminated" && !slices.Contains(ready, id) {
			ids = append(ids, id)
		}
	}
	ids = sorted(ids)
	if over := len(ids) - t.options.Instances; over > 0 {
		for _, id := range ids[t.options.Instances:] {
			t.leave(capture.FileName("ec2-get-console-output", id), "console and user data of at most %d instances are taken (--instances)", t.options.Instances)
		}
		ids = ids[:t.options.Instances]
	}
	list(t, ids, func(_ int, id string) {
		t.take(ctx, capture.FileName("ec2-describe-instance-attribute", id, "userData"), asks(t, "ec2", t.ec2.DescribeInstanceAttribute,
			&ec2.DescribeInstanceAttributeInput{InstanceId: aws.String(id), Attribute: types.InstanceAttributeNameUserData}))
		t.take(ctx, capture.FileName("ec2-get-console-output", id), func(ctx context.Context) (map[string]any, error) { return t.console(ctx, id) })
	})
}

// console is what an instance has written so far. Types on Xen have no latest output, and what
// has ended has none or an empty one: EC2 keeps what was posted when it ended.
func (t *taker) console(ctx context.Context, id string) (map[string]any, error) {
	in := ec2.GetConsoleOutputInput{InstanceId: aws.String(id), Latest: aws.Bool(true)}
	tree, err := asks(t, "ec2", t.ec2.GetConsoleOutput, &in)(ctx)
	var api smithy.APIError
	empty := err == nil && (tree["Output"] == nil || tree["Output"] == "")
	if empty || errors.As(err, &api) && (api.ErrorCode() == "UnsupportedOperation" || api.ErrorCode() == "IncorrectInstanceState") {
		in.Latest = nil
		posted, failed := asks(t, "ec2", t.ec2.GetConsoleOutput, &in)(ctx)
		if failed == nil || !empty {
			return posted, failed
		}
	}
	return tree, err
}

// templates takes all versions of the launch templates in one file, and gives the types
// that they name. If one of them is refused the list is not whole, and not written.
func (t *taker) templates(ctx context.Context, ids []string) []string {
	const file = "ec2-describe-launch-template-versions"
	if over := len(ids) - mostTemplates; over > 0 {
		t.leave(file, "%d launch templates beyond the first %d", over, mostTemplates)
		ids = ids[:mostTemplates]
	}
	tree := t.take(ctx, file, func(ctx context.Context) (map[string]any, error) {
		return eachOf(t, ids, "LaunchTemplateVersions", func(id string) (map[string]any, error) {
			return asks(t, "ec2", t.ec2.DescribeLaunchTemplateVersions, &ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateId: aws.String(id)})(ctx)
		})
	})
	return picksOf(tree, "LaunchTemplateVersions[].LaunchTemplateData.InstanceType")
}

// activityPage is Auto Scaling's largest page of activities. The newest are first, and
// no more of them are read by who looks at a capture.
const activityPage = 100

func (t *taker) activities(ctx context.Context, groups []string) {
	const file = "autoscaling-describe-scaling-activities"
	if over := len(groups) - mostGroups; over > 0 {
		t.leave(file, "%d Auto Scaling groups beyond the first %d", over, mostGroups)
		groups = groups[:mostGroups]
	}
	t.take(ctx, file, func(ctx context.Context) (map[string]any, error) {
		return eachOf(t, groups, "Activities", func(group string) (map[string]any, error) {
			in := autoscaling.DescribeScalingActivitiesInput{AutoScalingGroupName: aws.String(group), MaxRecords: aws.Int32(activityPage)}
			tree, more, err := pages(ctx, t, "autoscaling", t.autoscaling.DescribeScalingActivities, in, 1)
			if more {
				t.leave(file, "activities of %s that are older than its newest %d", group, activityPage)
			}
			return tree, err
		})
	})
}

// eachOf joins what is answered for each of a list, asked at the same time, in its order.
func eachOf(t *taker, items []string, member string, ask func(string) (map[string]any, error)) (map[string]any, error) {
	trees, errs := make([]map[string]any, len(items)), make([]error, len(items))
	list(t, items, func(i int, item string) { trees[i], errs[i] = ask(item) })
	all := []any{}
	for i, tree := range trees {
		if errs[i] != nil {
			return nil, fmt.Errorf("%s: %w", items[i], errs[i])
		}
		all = append(all, nodesOf(tree, member+"[]")...)
	}
	return map[string]any{member: all}, nil
}

func (t *taker) prefixLists(ctx context.Context, ids []string) {
	list(t, ids, func(_ int, id string) {
		t.take(ctx, capture.FileName("ec2-get-managed-prefix-list-entries", id),
			asks(t, "ec2", t.ec2.GetManagedPrefixListEntries, &ec2.GetManagedPrefixListEntriesInput{PrefixListId: aws.String(id)}))
	})
}

// limits are half of each request bucket, or of what is taken for one: the account's
// own work goes on beside a capture.
type limits struct {
	mu   sync.Mutex
	each map[string]*rate.Limiter
	// slots bound how many calls are on their way.
	slots chan struct{}
}

// inFlight is how many calls are on their way at most.
const inFlight = 32

func newLimits() *limits {
	return &limits{each: map[string]*rate.Limiter{}, slots: make(chan struct{}, inFlight)}
}

// enter waits until a call may be made. Its end must be told.
func (l *limits) enter(ctx context.Context, service, operation string) (leave func(), err error) {
	if err := l.limiter(service, operation).Wait(ctx); err != nil {
		return nil, err
	}
	select {
	case l.slots <- struct{}{}:
		return func() { <-l.slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *limits) limiter(service, operation string) *rate.Limiter {
	key := service
	if service == "ec2" {
		key += ":" + operation // EC2 has a bucket for each of its APIs
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.each[key] == nil {
		l.each[key] = newLimiter(service)
	}
	return l.each[key]
}

// newLimiter is how often a service is asked, a second and at once.
//
// EC2: non-mutating calls that are filtered or paginated have a bucket of 100 that gets
// 20 a second (EC2 API reference, "Request throttling"). CloudTrail: two lookups a second
// (LookupEvents). EKS, IAM and Auto Scaling publish no numbers: five to ten a second is
// what EKS's callers keep to.
func newLimiter(service string) *rate.Limiter {
	switch service {
	case "ec2":
		return rate.NewLimiter(10, 50)
	case "cloudtrail":
		return rate.NewLimiter(1, 2)
	}
	return rate.NewLimiter(10, 20)
}

// What EKS Auto Mode logs counts as long as refused launches do, and is read so far.
const (
	logSpan  = time.Hour
	logPage  = 10000 // FilterLogEvents, limit
	logPages = 5
	// listPage is the largest page of deliveries (DescribeLimit).
	listPage = 50
)

// logsPage asks for a page of one of the lists.
type logsPage struct {
	Limit int    `json:"limit"`
	Next  string `json:"nextToken,omitempty"`
}

// logsFilter asks for a page of what a log group has.
type logsFilter struct {
	Group string `json:"logGroupName"`
	Start int64  `json:"startTime"`
	End   int64  `json:"endTime"`
	logsPage
}

// autoModeLogs takes where the logs of EKS Auto Mode go, and what stands there. Clusters
// without it have none.
func (t *taker) autoModeLogs(ctx context.Context, clusters []string) {
	if len(clusters) == 0 {
		return
	}
	var sources, deliveries, destinations map[string]any
	all := func(file, operation string) map[string]any {
		return t.take(ctx, file, func(ctx context.Context) (map[string]any, error) {
			tree, _, err := t.logs(ctx, operation, func(next string) any { return logsPage{listPage, next} }, 0)
			return tree, err
		})
	}
	t.parallel(
		func() { sources = all("logs-describe-delivery-sources", "DescribeDeliverySources") },
		func() { deliveries = all("logs-describe-deliveries", "DescribeDeliveries") },
		func() { destinations = all("logs-describe-delivery-destinations", "DescribeDeliveryDestinations") },
	)
	list(t, logGroups(clusters, sources, deliveries, destinations), func(_ int, group string) {
		file := capture.FileName("logs-filter-log-events", group)
		t.take(ctx, file, func(ctx context.Context) (map[string]any, error) {
			tree, more, err := t.logs(ctx, "FilterLogEvents", func(next string) any {
				return logsFilter{group, t.options.Now.Add(-logSpan).UnixMilli(), t.options.Now.UnixMilli(), logsPage{logPage, next}}
			}, logPages)
			if more {
				t.leave(file, "events of the last hour beyond the first %d pages", logPages)
			}
			return tree, err
		})
	})
}

// logGroups are those that clusters' logs of EKS Auto Mode are delivered to.
func logGroups(clusters []string, sources, deliveries, destinations map[string]any) []string {
	where := map[string]string{}
	for _, d := range nodesOf(destinations, "deliveryDestinations[]") {
		where[text(d, "arn")] = text(d, "deliveryDestinationConfiguration.destinationResourceArn")
	}
	var named []string
	for _, s := range nodesOf(sources, "deliverySources[]") {
		of := slices.ContainsFunc(picks(s, "resourceArns[]"), func(a string) bool { return slices.Contains(clusters, a) })
		if of && autolog.Is(text(s, "logType")) {
			named = append(named, text(s, "name"))
		}
	}
	var groups []string
	for _, d := range nodesOf(deliveries, "deliveries[]") {
		if !slices.Contains(named, text(d, "deliverySourceName")) {
			continue
		}
		a, err := arn.Parse(where[text(d, "deliveryDestinationArn")])
		name, is := strings.CutPrefix(a.Resource, "log-group:")
		if err == nil && is {
			groups = append(groups, strings.TrimSuffix(name, ":*"))
		}
	}
	return sorted(groups)
}

// logs makes a call of CloudWatch Logs with at most so many pages (0: all), and tells if
// there are more.
func (t *taker) logs(ctx context.Context, operation string, in func(next string) any, most int) (map[string]any, bool, error) {
	return t.json(ctx, awsjson.Service{ID: "CloudWatch Logs", Name: "logs", Target: "Logs_20140328.", MostBytes: maxBytes}, operation, in, most)
}

// json makes a call of a JSON service likewise.
func (t *taker) json(ctx context.Context, service awsjson.Service, operation string, in func(next string) any, most int) (map[string]any, bool, error) {
	client := awsjson.New(t.asked.Config, service)
	return t.jsonPages(ctx, service.Name, operation, most, func(next string, out *json.RawMessage) error {
		return client.Call(ctx, operation, "", in(next), out)
	})
}

// jsonPages makes calls for pages in JSON.
func (t *taker) jsonPages(ctx context.Context, service, operation string, most int, call func(next string, out *json.RawMessage) error) (map[string]any, bool, error) {
	var all map[string]any
	for n, next := 1, ""; ; n++ {
		leave, err := t.limits.enter(ctx, service, operation)
		if err != nil {
			return nil, false, err
		}
		var raw json.RawMessage
		err = call(next, &raw)
		leave()
		t.count(func() { t.state.Calls++ })
		if err != nil {
			return nil, false, err
		}
		page, err := decoded(raw)
		if err != nil {
			return nil, false, err
		}
		// The numbers of logs are of milliseconds, and no timestamps of its model.
		asPrinted(page, service != "logs")
		before := next
		next = cmp.Or(text(page, "nextToken"), text(page, "NextToken"))
		all = joined(all, page)
		switch {
		case next == "", most > 0 && n == most:
			return all, next != "", nil
		case next == before:
			return nil, false, errHalf
		}
	}
}

// asPrinted makes JSON of a service what the AWS CLI prints: it leaves out what is null, and
// prints timestamps, which these protocols send as seconds, as text.
func asPrinted(v any, times bool) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			asPrinted(item, times)
		}
	case map[string]any:
		for name, item := range v {
			n, ok := item.(json.Number)
			seconds, err := n.Float64()
			switch {
			case item == nil:
				delete(v, name)
			case times && ok && err == nil && strings.HasSuffix(name, "Time"):
				v[name] = time.UnixMicro(int64(math.Round(seconds * 1e6))).UTC().Format("2006-01-02T15:04:05.999999+00:00")
			default:
				asPrinted(item, times)
			}
		}
	}
}

// pageSize is EC2's largest page of most lists. A list that is asked for in pages draws
// on the larger request bucket.
func pageSize() *int32 { return aws.Int32(1000) }

// account takes what is the same for all clusters of the account and region.
func (t *taker) account(ctx context.Context) (found region) {
	take := func(name string, ask func(context.Context) (map[string]any, error)) func() {
		return func() { t.take(ctx, name, ask) }
	}
	t.parallel(
		take("ec2-get-allowed-images-settings", asks(t, "ec2", t.ec2.GetAllowedImagesSettings, &ec2.GetAllowedImagesSettingsInput{})),
		take("ec2-get-instance-metadata-defaults", asks(t, "ec2", t.ec2.GetInstanceMetadataDefaults, &ec2.GetInstanceMetadataDefaultsInput{})),
		take("ec2-get-managed-resource-visibility", asks(t, "ec2", t.ec2.GetManagedResourceVisibility, &ec2.GetManagedResourceVisibilityInput{})),
		// Which types each zone has at all: for what is only planned (rollcall preflight).
		take("ec2-describe-instance-type-offerings", asks(t, "ec2", t.ec2.DescribeInstanceTypeOfferings,
			&ec2.DescribeInstanceTypeOfferingsInput{LocationType: types.LocationTypeAvailabilityZone, MaxResults: pageSize()})),
		take("ec2-describe-internet-gateways", asks(t, "ec2", t.ec2.DescribeInternetGateways, &ec2.DescribeInternetGatewaysInput{MaxResults: pageSize()})),
		take("ec2-describe-egress-only-internet-gateways", asks(t, "ec2", t.ec2.DescribeEgressOnlyInternetGateways, &ec2.DescribeEgressOnlyInternetGatewaysInput{})),
		take("ec2-describe-vpc-block-public-access-options", asks(t, "ec2", t.ec2.DescribeVpcBlockPublicAccessOptions, &ec2.DescribeVpcBlockPublicAccessOptionsInput{})),
		take("ec2-describe-vpc-block-public-access-exclusions", asks(t, "ec2", t.ec2.DescribeVpcBlockPublicAccessExclusions, &ec2.DescribeVpcBlockPublicAccessExclusionsInput{MaxResults: pageSize()})),
		take("ec2-describe-security-group-vpc-associations", asks(t, "ec2", t.ec2.DescribeSecurityGroupVpcAssociations, &ec2.DescribeSecurityGroupVpcAssociationsInput{MaxResults: pageSize()})),
		take("ec2-describe-dhcp-options", asks(t, "ec2", t.ec2.DescribeDhcpOptions, &ec2.DescribeDhcpOptionsInput{MaxResults: pageSize()})),
		take("ec2-describe-managed-prefix-lists", asks(t, "ec2", t.ec2.DescribeManagedPrefixLists, &ec2.DescribeManagedPrefixListsInput{})),
		func() {
			found.peerings = t.take(ctx, "ec2-describe-vpc-peering-connections", asks(t, "ec2", t.ec2.DescribeVpcPeeringConnections, &ec2.DescribeVpcPeeringConnectionsInput{MaxResults: pageSize()}))
		},
		take("ec2-describe-availability-zones", asks(t, "ec2", t.ec2.DescribeAvailabilityZones, &ec2.DescribeAvailabilityZonesInput{})),
		take("ec2-describe-volumes", asks(t, "ec2", t.ec2.DescribeVolumes, &ec2.DescribeVolumesInput{MaxResults: pageSize()})),
		take("ec2-describe-instance-status", asks(t, "ec2", t.ec2.DescribeInstanceStatus,
			&ec2.DescribeInstanceStatusInput{IncludeAllInstances: aws.Bool(true), MaxResults: pageSize()})),
		take("ec2-describe-capacity-reservations", asks(t, "ec2", t.ec2.DescribeCapacityReservations, &ec2.DescribeCapacityReservationsInput{})),
		take("ec2-describe-instance-image-metadata", asks(t, "ec2", t.ec2.DescribeInstanceImageMetadata, &ec2.DescribeInstanceImageMetadataInput{MaxResults: pageSize()})),
		take("ec2-describe-placement-groups", asks(t, "ec2", t.ec2.DescribePlacementGroups, &ec2.DescribePlacementGroupsInput{})),
		func() {
			found.groups = t.take(ctx, "autoscaling-describe-auto-scaling-groups", asks(t, "autoscaling", t.autoscaling.DescribeAutoScalingGroups,
				&autoscaling.DescribeAutoScalingGroupsInput{MaxRecords: aws.Int32(100)}))
		},
		func() { found.attachments = t.transitRoutes(ctx) },
		func() { t.resolver(ctx) },
		func() { t.zonalShifts(ctx) },
	)
	return found
}

// transitRoutes takes what transit gateways have, and gives their attachments.
func (t *taker) transitRoutes(ctx context.Context) (attachments map[string]any) {
	var tables map[string]any
	t.parallel(
		func() {
			attachments = t.take(ctx, "ec2-describe-transit-gateway-attachments", asks(t, "ec2", t.ec2.DescribeTransitGatewayAttachments, &ec2.DescribeTransitGatewayAttachmentsInput{MaxResults: pageSize()}))
		},
		func() {
			tables = t.take(ctx, "ec2-describe-transit-gateway-route-tables",
				asks(t, "ec2", t.ec2.DescribeTransitGatewayRouteTables, &ec2.DescribeTransitGatewayRouteTablesInput{MaxResults: pageSize()}))
		},
	)
	ids := slices.Concat(picksOf(tables, "TransitGatewayRouteTables[].TransitGatewayRouteTableId"), picksOf(attachments, "TransitGatewayAttachments[].Association.TransitGatewayRouteTableId"))
	list(t, sorted(ids), func(_ int, id string) {
		t.take(ctx, capture.FileName("ec2-search-transit-gateway-routes", id), asks(t, "ec2", t.ec2.SearchTransitGatewayRoutes, &ec2.SearchTransitGatewayRoutesInput{
			TransitGatewayRouteTableId: aws.String(id), Filters: ec2api.AnyOf("state", []string{"active", "blackhole"}),
		}))
	})
	return attachments
}

// Refused calls for instances count for an hour (the contract of captures).
const (
	trailSpan  = time.Hour
	trailPage  = 50 // LookupEvents, MaxResults
	trailPages = 6
)

// trail takes the calls for instances that CloudTrail recorded: a refused one leaves
// nothing else behind.
func (t *taker) trail(ctx context.Context) {
	for _, name := range []string{"CreateFleet", "RunInstances"} {
		file := capture.FileName("cloudtrail-lookup-events", name)
		t.take(ctx, file, func(ctx context.Context) (map[string]any, error) { return t.lookup(ctx, file, name) })
	}
}

// lookup is what CloudTrail has of a call, newest first.
func (t *taker) lookup(ctx context.Context, file, name string) (map[string]any, error) {
	service := awsjson.Service{ID: "CloudTrail", Name: "cloudtrail", Target: "com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101.", MostBytes: maxBytes}
	tree, more, err := t.json(ctx, service, "LookupEvents", func(next string) any {
		return &cloudtrail.Input{
			Attribute: cloudtrail.Attribute{Key: "EventName", Value: name},
			Start:     t.options.Now.Add(-trailSpan), End: t.options.Now, Most: trailPage, Next: next,
		}
	}, trailPages)
	if more {
		t.leave(file, "calls of the last hour that are older than the newest %d", trailPage*trailPages)
	}
	return tree, err
}

// network takes what is in the VPCs of the clusters and their nodes, and in those that
// packets pass on their way; where no VPC is known, in all of them.
func (t *taker) network(ctx context.Context, found *region) {
	found.vpcs = t.scope(found)
	var in []types.Filter
	if len(found.vpcs) > 0 {
		in = ec2api.AnyOf("vpc-id", found.vpcs)
	}
	lists := make([][]string, 2)
	t.parallel(
		func() { t.subnets(ctx, in) },
		func() {
			t.take(ctx, "ec2-describe-vpcs", asks(t, "ec2", t.ec2.DescribeVpcs, &ec2.DescribeVpcsInput{Filters: in, MaxResults: pageSize()}))
		},
		func() {
			tree := t.take(ctx, "ec2-describe-route-tables", asks(t, "ec2", t.ec2.DescribeRouteTables, &ec2.DescribeRouteTablesInput{Filters: in}))
			lists[0] = picksOf(tree, "RouteTables[].Routes[].DestinationPrefixListId")
		},
		func() {
			tree := t.take(ctx, "ec2-describe-security-groups", asks(t, "ec2", t.ec2.DescribeSecurityGroups, &ec2.DescribeSecurityGroupsInput{Filters: in, MaxResults: pageSize()}))
			lists[1] = slices.Concat(picksOf(tree, "SecurityGroups[].IpPermissions[].PrefixListIds[].PrefixListId"), picksOf(tree, "SecurityGroups[].IpPermissionsEgress[].PrefixListIds[].PrefixListId"))
		},
		func() {
			t.take(ctx, "ec2-describe-vpc-endpoints", asks(t, "ec2", t.ec2.DescribeVpcEndpoints, &ec2.DescribeVpcEndpointsInput{Filters: in, MaxResults: pageSize()}))
		},
		func() {
			t.take(ctx, "ec2-describe-network-acls", asks(t, "ec2", t.ec2.DescribeNetworkAcls, &ec2.DescribeNetworkAclsInput{Filters: in, MaxResults: pageSize()}))
		},
		func() {
			t.take(ctx, "ec2-describe-nat-gateways", asks(t, "ec2", t.ec2.DescribeNatGateways, &ec2.DescribeNatGatewaysInput{Filter: in, MaxResults: pageSize()}))
		},
		func() {
			t.take(ctx, "ec2-describe-network-interfaces", asks(t, "ec2", t.ec2.DescribeNetworkInterfaces, &ec2.DescribeNetworkInterfacesInput{Filters: in, MaxResults: pageSize()}))
		},
		func() { found.instances = t.allInstances(ctx, in, found.nodes) },
		func() { t.attributes(ctx, found.vpcs) },
		func() { t.zones(ctx, found.vpcs) },
	)
	found.lists = sorted(slices.Concat(lists...))
}

func (t *taker) subnets(ctx context.Context, in []types.Filter) {
	tree := t.take(ctx, "ec2-describe-subnets", asks(t, "ec2", t.ec2.DescribeSubnets, &ec2.DescribeSubnetsInput{Filters: in, MaxResults: pageSize()}))
	if in == nil {
		return // of subnets of other people's VPCs nothing more is asked
	}
	list(t, picksOf(tree, "Subnets[].SubnetId"), func(_ int, id string) {
		t.take(ctx, capture.FileName("ec2-get-subnet-cidr-reservations", id), asks(t, "ec2", t.ec2.GetSubnetCidrReservations, &ec2.GetSubnetCidrReservationsInput{SubnetId: aws.String(id)}))
	})
}

func (t *taker) attributes(ctx context.Context, vpcs []string) {
	list(t, vpcs, func(_ int, vpc string) {
		for _, name := range []types.VpcAttributeName{types.VpcAttributeNameEnableDnsSupport, types.VpcAttributeNameEnableDnsHostnames} {
			t.take(ctx, capture.FileName("ec2-describe-vpc-attribute", vpc, string(name)),
				asks(t, "ec2", t.ec2.DescribeVpcAttribute, &ec2.DescribeVpcAttributeInput{VpcId: aws.String(vpc), Attribute: name}))
		}
	})
}

// picks are the texts at a path of an answer, such as
// Reservations[].Instances[].InstanceId, sorted, each once.
func picks(tree any, path string) []string {
	var out []string
	for _, v := range nodes(tree, path) {
		if text, ok := v.(string); ok && text != "" {
			out = append(out, text)
		}
	}
	return sorted(out)
}

func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

// nodes are what is at a path, in order. A list is walked where the path has [].
func nodes(tree any, path string) []any {
	if path == "" {
		return []any{tree}
	}
	name, rest, _ := strings.Cut(path, ".")
	name, isList := strings.CutSuffix(name, "[]")
	m, ok := tree.(map[string]any)
	if !ok {
		return nil
	}
	v, ok := m[name]
	if !ok {
		return nil
	}
	if !isList {
		return nodes(v, rest)
	}
	var out []any
	items, _ := v.([]any)
	for _, item := range items {
		out = append(out, nodes(item, rest)...)
	}
	return out
}

// text is the text at a path, "" if there is none.
func text(tree any, path string) string {
	for _, v := range nodes(tree, path) {
		switch v := v.(type) {
		case string:
			return v
		case json.Number:
			return v.String()
		}
	}
	return ""
}

// tag is the value of a tag of EC2 or Auto Scaling.
func tag(tree any, key string) string {
	for _, t := range nodes(tree, "Tags[]") {
		if text(t, "Key") == key {
			return text(t, "Value")
		}
	}
	return ""
}

// lastPart is the name at the end of an ARN.
func lastPart(arn string) string { return arn[strings.LastIndex(arn, "/")+1:] }

// profiles takes the Route 53 Profiles of the account's VPCs and their resources, and returns
// the ARNs of the resources.
func (t *taker) profiles(ctx context.Context) []string {
	client := awsjson.New(t.asked.Config, awsjson.Service{ID: "Route53Profiles", Name: "route53profiles", MostBytes: maxBytes})
	take := func(file, operation, path string) map[string]any {
		return t.take(ctx, file, func(ctx context.Context) (map[string]any, error) {
			tree, _, err := t.jsonPages(ctx, "route53profiles", operation, 0, func(next string, raw *json.RawMessage) error {
				query := url.Values{"maxResults": {"100"}}
				if next != "" {
					query.Set("nextToken", next)
				}
				return client.Get(ctx, operation, path, query, nil, raw)
			})
			return tree, err
		})
	}
	associations := take("route53profiles-list-profile-associations", "ListProfileAssociations", "profileassociations")
	ids := sorted(picksOf(associations, "ProfileAssociations[].ProfileId"))
	arns := make([][]string, len(ids))
	list(t, ids, func(i int, id string) {
		resources := take(capture.FileName("route53profiles-list-profile-resource-associations", id), "ListProfileResourceAssociations",
			"profileresourceassociations/profileid/"+url.PathEscape(id))
		arns[i] = picksOf(resources, "ProfileResourceAssociations[].ResourceArn")
	})
	var all []string
	for _, of := range arns {
		all = append(all, of...)
	}
	return all
}
