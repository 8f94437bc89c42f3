package world

import (
	"reflect"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"rollcall/local/simaws/state"
	"rollcall/local/simaws/worldfile"
)

const autoInstance = "i-0a070000000000001"

// describe makes one of the calls that have IncludeManagedResources, and gives
// who manages what it shows, by id.
type describe func(t *testing.T, w *World, include *bool) map[string]string

func managedCalls() map[string]describe {
	return map[string]describe{
		"DescribeInstances": func(t *testing.T, w *World, include *bool) map[string]string {
			out, err := w.EC2().DescribeInstances(&ec2.DescribeInstancesInput{IncludeManagedResources: include})
			list := map[string]string{}
			for _, r := range must(t, out, err).Reservations {
				for _, v := range r.Instances {
					list[*v.InstanceId] = shownAs(v.Operator)
				}
			}
			return list
		},
		"DescribeInstanceStatus": func(t *testing.T, w *World, include *bool) map[string]string {
			out, err := w.EC2().DescribeInstanceStatus(&ec2.DescribeInstanceStatusInput{IncludeManagedResources: include})
			list := map[string]string{}
			for _, v := range must(t, out, err).InstanceStatuses {
				list[*v.InstanceId] = shownAs(v.Operator)
			}
			return list
		},
		"DescribeNetworkInterfaces": func(t *testing.T, w *World, include *bool) map[string]string {
			out, err := w.EC2().DescribeNetworkInterfaces(&ec2.DescribeNetworkInterfacesInput{IncludeManagedResources: include})
			list := map[string]string{}
			for _, v := range must(t, out, err).NetworkInterfaces {
				list[*v.NetworkInterfaceId] = shownAs(v.Operator)
			}
			return list
		},
		"DescribeVolumes": func(t *testing.T, w *World, include *bool) map[string]string {
			out, err := w.EC2().DescribeVolumes(&ec2.DescribeVolumesInput{IncludeManagedResources: include})
			list := map[string]string{}
			for _, v := range must(t, out, err).Volumes {
				list[*v.VolumeId] = shownAs(v.Operator)
			}
			return list
		},
		"DescribeVolumeStatus": func(t *testing.T, w *World, include *bool) map[string]string {
			out, err := w.EC2().DescribeVolumeStatus(&ec2.DescribeVolumeStatusInput{IncludeManagedResources: include})
			list := map[string]string{}
			for _, v := range must(t, out, err).VolumeStatuses {
				list[*v.VolumeId] = shownAs(v.Operator)
			}
			return list
		},
		"DescribeLaunchTemplates": func(t *testing.T, w *World, include *bool) map[string]string {
			out, err := w.EC2().DescribeLaunchTemplates(&ec2.DescribeLaunchTemplatesInput{IncludeManagedResources: include})
			list := map[string]string{}
			for _, v := range must(t, out, err).LaunchTemplates {
				list[*v.LaunchTemplateId] = shownAs(v.Operator)
			}
			return list
		},
		"DescribeLaunchTemplateVersions": func(t *testing.T, w *World, include *bool) map[string]string {
			out, err := w.EC2().DescribeLaunchTemplateVersions(&ec2.DescribeLaunchTemplateVersionsInput{Versions: []string{"$Latest"}, IncludeManagedResources: include})
			list := map[string]string{}
			for _, v := range must(t, out, err).LaunchTemplateVersions {
				list[*v.LaunchTemplateId] = shownAs(v.Operator)
			}
			return list
		},
	}
}

func must[T any](t *testing.T, v T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// shownAs is who manages something, and whether lists hide it; empty for the
// account's own.
func shownAs(o *ec2types.OperatorResponse) string {
	switch {
	case !state.IsManaged(o):
		return ""
	case aws.ToBool(o.HiddenByDefault):
		return aws.ToString(o.Principal) + ", hidden"
	}
	return aws.ToString(o.Principal) + ", visible"
}

func countManaged(list map[string]string) (managed, own int) {
	for _, by := range list {
		if by != "" {
			managed++
		} else {
			own++
		}
	}
	return managed, own
}

// TestEveryCallWithTheParameterIsHere holds that the calls tested below are all
// of this world's that have the parameter.
func TestEveryCallWithTheParameterIsHere(t *testing.T) {
	var have, tested []string
	api := reflect.TypeOf((&World{}).EC2())
	for i := range api.NumMethod() {
		m := api.Method(i)
		if _, ok := m.Type.In(1).Elem().FieldByName("IncludeManagedResources"); ok {
			have = append(have, m.Name)
		}
	}
	for name := range managedCalls() {
		tested = append(tested, name)
	}
	slices.Sort(tested)
	if diff := cmp.Diff(have, tested); diff != "" || len(have) != 7 {
		t.Errorf("calls with IncludeManagedResources, 7 in EC2's model (-have +tested):\n%s", diff)
	}
}

func TestListsHideWhatServicesManage(t *testing.T) {
	hidden, visible := ec2types.ManagedResourceDefaultVisibilityHidden, ec2types.ManagedResourceDefaultVisibilityVisible
	for _, test := range []struct {
		name    string
		setting ec2types.ManagedResourceDefaultVisibility // empty: the world says none
		include *bool
		shown   bool
	}{
		{"nothing is set", "", nil, false},
		{"hidden", hidden, nil, false},
		{"hidden, and not asked for", hidden, aws.Bool(false), false},
		{"hidden, and asked for", hidden, aws.Bool(true), true},
		{"visible", visible, nil, true},
		{"visible, and asked for", visible, aws.Bool(true), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, _ := openWith(t, "corpus/base-auto-mode", func(f *worldfile.File) {
				if test.setting != "" {
					f.EC2.ManagedResourceVisibility = &ec2types.ManagedResourceVisibilitySettings{DefaultVisibility: test.setting}
				}
				f.EC2.Volumes = append(f.EC2.Volumes, ec2types.Volume{VolumeId: aws.String("vol-0own"), AvailabilityZone: aws.String("us-west-2a")})
			})
			for name, call := range managedCalls() {
				list := call(t, w, test.include)
				managed, own := countManaged(list)
				if own == 0 || (managed > 0) != test.shown {
					t.Errorf("%s shows %d managed and %d of the account's own: %v", name, managed, own, list)
				}
				for id, by := range list {
					if by != "" && by != state.AutoModePrincipal+", "+map[bool]string{true: "visible", false: "hidden"}[test.setting == visible] {
						t.Errorf("%s: %s is managed by %q", name, id, by)
					}
				}
			}
		})
	}
}

// TestTheSettingCanBeChanged: at once, and for everybody.
func TestTheSettingCanBeChanged(t *testing.T) {
	w, _ := open(t, "corpus/base-auto-mode")
	setting := func() ec2types.ManagedResourceDefaultVisibility {
		out, err := w.EC2().GetManagedResourceVisibility(&ec2.GetManagedResourceVisibilityInput{})
		return must(t, out, err).Visibility.DefaultVisibility
	}
	if got := setting(); got != "hidden" {
		t.Errorf("an account begins with %q, want hidden", got)
	}
	if _, err := w.EC2().ModifyManagedResourceVisibility(&ec2.ModifyManagedResourceVisibilityInput{DefaultVisibility: "some"}); code(t, err) != "InvalidParameterValue" {
		t.Errorf("a setting that there is not: %v", err)
	}
	out, err := w.EC2().ModifyManagedResourceVisibility(&ec2.ModifyManagedResourceVisibilityInput{DefaultVisibility: "visible"})
	if got := must(t, out, err).Visibility.DefaultVisibility; got != "visible" || setting() != "visible" {
		t.Errorf("changed to %q, told as %q", got, setting())
	}
	if managed, _ := countManaged(managedCalls()["DescribeInstances"](t, w, nil)); managed != 1 {
		t.Errorf("%d managed instances are shown, want 1", managed)
	}
}

// TestAFilterByIDIsAList: an instance that is asked for by its id is shown, one
// that a filter names by its id is not.
func TestAFilterByIDIsAList(t *testing.T) {
	w, _ := open(t, "corpus/base-auto-mode")
	count := func(in *ec2.DescribeInstancesInput) int {
		out, err := w.EC2().DescribeInstances(in)
		return len(must(t, out, err).Reservations)
	}
	byFilter := []ec2types.Filter{{Name: aws.String("instance-id"), Values: []string{autoInstance}}}
	got := []int{
		count(&ec2.DescribeInstancesInput{InstanceIds: []string{autoInstance}}), count(&ec2.DescribeInstancesInput{Filters: byFilter}),
		count(&ec2.DescribeInstancesInput{Filters: byFilter, IncludeManagedResources: aws.Bool(true)}),
	}
	if diff := cmp.Diff([]int{1, 0, 1}, got); diff != "" {
		t.Errorf("by id, by filter, by filter with the parameter (-want +got):\n%s", diff)
	}
}
