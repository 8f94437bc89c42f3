package take

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"

	"rollcall/shared/capture/filename"
	"rollcall/shared/gather/ec2api"
)

// What is asked one by one is bounded; what is over is told.
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
			t.leave(filename.Of("ec2-get-console-output", id), "console and user data of at most %d instances are taken (--instances)", t.options.Instances)
		}
		ids = ids[:t.options.Instances]
	}
	list(t, ids, func(_ int, id string) {
		t.take(ctx, filename.Of("ec2-describe-instance-attribute", id, "userData"), asks(t, "ec2", t.ec2.DescribeInstanceAttribute,
			&ec2.DescribeInstanceAttributeInput{InstanceId: aws.String(id), Attribute: types.InstanceAttributeNameUserData}))
		t.take(ctx, filename.Of("ec2-get-console-output", id), func(ctx context.Context) (map[string]any, error) { return t.console(ctx, id) })
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
		t.take(ctx, filename.Of("ec2-get-managed-prefix-list-entries", id),
			asks(t, "ec2", t.ec2.GetManagedPrefixListEntries, &ec2.GetManagedPrefixListEntriesInput{PrefixListId: aws.String(id)}))
	})
}
