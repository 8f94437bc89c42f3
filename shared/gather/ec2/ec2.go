// Package ec2 reads instances, and what they are made of: types, images, launch
// templates, user data, console output, status checks, volumes, zones.
package ec2

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"

	"rollcall/shared/gather/ec2api"
	"rollcall/shared/gather/source"
	"rollcall/shared/node/activity"
	"rollcall/shared/snapshot"
)

// Sources are what is read of instances, and of what they are made of.
func Sources(e *ec2.Client) []source.Source {
	return []source.Source{
		instances(), instanceTypes(e), typeOfferings(e), statuses(e), UserData(e), consoles(e), images(e), launchedImages(e), launchTemplates(e), allowedImages(e), metadataDefaults(e), capacityReservations(e), placementGroups(e), volumes(e), zones(e),
	}
}

// capacityReservations are those that launch templates name.
func capacityReservations(api ec2.DescribeCapacityReservationsAPIClient) source.Source {
	return source.Source{
		Name:  snapshot.CapacityReservations,
		Needs: []snapshot.Source{snapshot.LaunchTemplates},
		Calls: []source.Call{{Action: "ec2:DescribeCapacityReservations"}},
		Read: func(ctx context.Context, v *source.View) (source.Store, error) {
			if !v.Snapshot.Has(snapshot.LaunchTemplates) {
				return nil, v.Unread(snapshot.LaunchTemplates)
			}
			return readReservations(ctx, api, v.Snapshot.LaunchTemplates)
		},
	}
}

// readReservations asks by ids: there is no filter for them (EC2 API reference,
// DescribeCapacityReservations, "Filter.N"). EC2 refuses the whole request for one that is
// there no more (InvalidCapacityReservationId.NotFound), and describes those that are over,
// for some time: of several each is asked for by itself then.
func readReservations(ctx context.Context, api ec2.DescribeCapacityReservationsAPIClient, templates []snapshot.LaunchTemplate) (source.Store, error) {
	var ids []string
	for _, t := range templates {
		if strings.HasPrefix(t.Reservation, "cr-") { // else a parameter, or none
			ids = append(ids, t.Reservation)
		}
	}
	ids = source.Distinct(ids)
	if len(ids) == 0 {
		return func(*snapshot.Snapshot) {}, nil
	}
	list, err := reservations(ctx, api, ids)
	if source.Gone(err) {
		list = nil
		for _, id := range ids {
			one, err := reservations(ctx, api, []string{id})
			if err != nil && !source.Gone(err) {
				return nil, err
			}
			list = append(list, one...)
		}
	} else if err != nil {
		return nil, err
	}
	list = source.Unique(list, func(r snapshot.CapacityReservation) string { return r.ID })
	return func(s *snapshot.Snapshot) { s.CapacityReservations = list }, nil
}

func reservations(ctx context.Context, api ec2.DescribeCapacityReservationsAPIClient, ids []string) ([]snapshot.CapacityReservation, error) {
	p := ec2.NewDescribeCapacityReservationsPaginator(api, &ec2.DescribeCapacityReservationsInput{CapacityReservationIds: ids})
	return ec2api.Pages(ctx, "capacity reservations", p.HasMorePages, p.NextPage, func(out *ec2.DescribeCapacityReservationsOutput) []snapshot.CapacityReservation {
		return source.Each(out.CapacityReservations, capacityReservation)
	})
}

func capacityReservation(r types.CapacityReservation) snapshot.CapacityReservation {
	return snapshot.CapacityReservation{
		ID: aws.ToString(r.CapacityReservationId), State: string(r.State), Type: aws.ToString(r.InstanceType), Zone: aws.ToString(r.AvailabilityZone),
		Total: int(aws.ToInt32(r.TotalInstanceCount)), Free: int(aws.ToInt32(r.AvailableInstanceCount)), Block: r.ReservationType == types.CapacityReservationTypeCapacityBlock,
		Start: aws.ToTime(r.StartDate), End: aws.ToTime(r.EndDate),
	}
}

// Placements describes placement groups.
type Placements interface {
	DescribePlacementGroups(context.Context, *ec2.DescribePlacementGroupsInput, ...func(*ec2.Options)) (*ec2.DescribePlacementGroupsOutput, error)
}

// placementGroups are all of the region, where a group or a launch template names one.
// The call has no pages, and no filter for ids (API reference); an account has at most
// 500.
func placementGroups(api Placements) source.Source {
	return source.Source{
		Name:  snapshot.PlacementGroups,
		Needs: []snapshot.Source{snapshot.Groups, snapshot.LaunchTemplates},
		Calls: []source.Call{{Action: "ec2:DescribePlacementGroups"}},
		Read: source.List(func(ctx context.Context, v *source.View) ([]snapshot.PlacementGroup, error) {
			s := v.Snapshot
			if !slices.ContainsFunc(s.Groups, func(g snapshot.Group) bool { return g.PlacementGroup != "" }) &&
				!slices.ContainsFunc(s.LaunchTemplates, func(t snapshot.LaunchTemplate) bool { return t.PlacementGroup != "" }) {
				return nil, nil
			}
			out, err := api.DescribePlacementGroups(ctx, &ec2.DescribePlacementGroupsInput{})
			if err != nil {
				return nil, fmt.Errorf("describe placement groups: %w", err)
			}
			return source.Each(out.PlacementGroups, func(p types.PlacementGroup) snapshot.PlacementGroup {
				return snapshot.PlacementGroup{
					ID: aws.ToString(p.GroupId), Name: aws.ToString(p.GroupName), Strategy: string(p.Strategy), State: string(p.State), Level: string(p.SpreadLevel),
					Partitions: int(aws.ToInt32(p.PartitionCount)),
				}
			}), nil
		}, func(p snapshot.PlacementGroup) string { return p.ID }, func(s *snapshot.Snapshot) *[]snapshot.PlacementGroup { return &s.PlacementGroups }),
	}
}

// Consoles gets what instances wrote to their serial consoles.
type Consoles interface {
	GetConsoleOutput(context.Context, *ec2.GetConsoleOutputInput, ...func(*ec2.Options)) (*ec2.GetConsoleOutputOutput, error)
}

// consoles are a sample of those of instances that should have joined by now,
// or that ended before they did.
func consoles(api Consoles) source.Source {
	return source.Source{
		Name: snapshot.Consoles,
		After: []snapshot.Source{
			snapshot.Nodes, // which tell who has joined
		},
		Calls: []source.Call{
			{Action: "ec2:GetConsoleOutput", Resources: []string{"arn:${Partition}:ec2:${Region}:${Account}:instance/*"}},
		},
		Read: source.Through(api, readConsoles),
	}
}

const (
	// maxConsoles bounds the consoles that are read in one look: EC2 gives 64
	// KiB of each, and allows few of these calls a second.
	maxConsoles = 10
	// consolesOfOne is how many are read of instances that should be alike: a
	// second one shows whether the first was a whim.
	consolesOfOne = 2
)

func readConsoles(ctx context.Context, api Consoles, v *source.View) (source.Store, error) {
	type kind struct {
		owner    string
		template snapshot.TemplateRef
	}
	read := map[kind]int{}
	var list []snapshot.Console
	lacks := map[string]snapshot.Failure{}
	for _, in := range v.NotJoined() {
		k := kind{in.Owner(), in.Template}
		if len(list)+len(lacks) >= maxConsoles || read[k] >= consolesOfOne || !in.Ended() && !overdue(v, in.ID) {
			continue
		}
		read[k]++
		c, err := readConsole(ctx, api, in)
		if err != nil {
			f := *v.Source.Failure(err)
			if f.Reason == snapshot.Denied {
				return nil, err
			}
			lacks[in.ID] = f
			continue
		}
		list = append(list, c)
	}
	list = source.Sorted(list, func(c snapshot.Console) string { return c.Instance })
	return func(s *snapshot.Snapshot) {
		s.Consoles = list
		source.LackAll(s, snapshot.Consoles, lacks)
	}, nil
}

func overdue(v *source.View, id string) bool {
	for _, launch := range v.Snapshot.Launches {
		if launch.Instance == id {
			return !launch.Due.IsZero() && launch.Due.Before(v.Snapshot.Time)
		}
	}
	return false
}

// readConsole reads an instance's console. Of one that runs it is as it is now, which only
// Nitro instances can tell; of others, and of one that has ended, EC2 has what was posted when
// it last started or ended, for an hour at least (EC2 API reference, GetConsoleOutput,
// "Latest"; NixOS/amis#4, edgelesssys/constellation#2926: the two have different ends of the
// log). Where one has nothing the other is asked for.
func readConsole(ctx context.Context, api Consoles, in snapshot.Instance) (snapshot.Console, error) {
	id := in.ID
	out, err := api.GetConsoleOutput(ctx, &ec2.GetConsoleOutputInput{InstanceId: aws.String(id), Latest: latest(!in.Ended())})
	var refused smithy.APIError
	if err == nil && aws.ToString(out.Output) == "" ||
		errors.As(err, &refused) && (refused.ErrorCode() == "UnsupportedOperation" || refused.ErrorCode() == "IncorrectInstanceState") {
		other, failed := api.GetConsoleOutput(ctx, &ec2.GetConsoleOutputInput{InstanceId: aws.String(id), Latest: latest(in.Ended())})
		if failed == nil || err != nil {
			out, err = other, failed
		}
	}
	if err != nil {
		return snapshot.Console{}, fmt.Errorf("get the console output of %s: %w", id, err)
	}
	text, err := base64.StdEncoding.DecodeString(aws.ToString(out.Output))
	if err != nil {
		return snapshot.Console{}, fmt.Errorf("decode the console output of %s: %w", id, err)
	}
	// The output is cut to its last 64 KiB, in the middle of a character too.
	return snapshot.Console{Instance: id, Text: strings.ToValidUTF8(string(text), "\uFFFD"), At: aws.ToTime(out.Timestamp)}, nil
}

func latest(wanted bool) *bool {
	if !wanted {
		return nil
	}
	return aws.Bool(true)
}

// images are those of the scope's instances and of the launch templates. It takes no call
// in a look that has no instance and at which no launch was refused.
func images(api ec2.DescribeImagesAPIClient) source.Source {
	return source.Source{
		Name:  snapshot.Images,
		After: []snapshot.Source{snapshot.LaunchTemplates, snapshot.Activities, snapshot.NodeClaimsOf},
		Calls: []source.Call{{Action: "ec2:DescribeImages"}},
		Read: func(ctx context.Context, v *source.View) (source.Store, error) {
			if len(v.Snapshot.Scope.Instances) == 0 && len(v.ImageTerms) == 0 && !refused(v.Snapshot) {
				return func(*snapshot.Snapshot) {}, nil
			}
			return readImages(ctx, api, v)
		},
	}
}

// launchedImages are those of instances of the scope that EC2 does not list. The instance
// keeps their name and owner (EC2 API, DescribeInstanceImageMetadata: also "if the AMI is
// deregistered or no longer shared"). No call is made where all are listed.
func launchedImages(api ec2.DescribeInstanceImageMetadataAPIClient) source.Source {
	return source.Source{
		Name:  snapshot.LaunchedImagesOf,
		After: []snapshot.Source{snapshot.Images},
		Calls: []source.Call{{Action: "ec2:DescribeInstanceImageMetadata"}},
		Read: func(ctx context.Context, v *source.View) (source.Store, error) {
			if !v.Snapshot.Has(snapshot.Images) {
				return source.Nothing, nil // which are listed is unknown, and said there
			}
			listed := map[string]bool{}
			for _, i := range v.Snapshot.Images {
				listed[i.ID] = true
			}
			var instances []string
			for _, in := range v.InScope() {
				if strings.HasPrefix(in.AMI, "ami-") && !listed[in.AMI] {
					instances = append(instances, in.ID)
				}
			}
			var list []snapshot.Image
			for chunk := range slices.Chunk(instances, ec2api.MaxFilterValues) {
				p := ec2.NewDescribeInstanceImageMetadataPaginator(api, &ec2.DescribeInstanceImageMetadataInput{Filters: ec2api.AnyOf("instance-id", chunk)})
				more, err := ec2api.Pages(ctx, "images of instances", p.HasMorePages, p.NextPage, func(out *ec2.DescribeInstanceImageMetadataOutput) []snapshot.Image {
					return source.Each(out.InstanceImageMetadata, launchedImage)
				})
				if err != nil {
					return nil, err
				}
				list = append(list, more...)
			}
			// An id alone is no knowledge of an image: it stays one that EC2 does not list.
			list = slices.DeleteFunc(list, func(i snapshot.Image) bool { return i.ID == "" || i.Name == "" })
			list = source.Unique(list, func(i snapshot.Image) string { return i.ID })
			return func(s *snapshot.Snapshot) { s.LaunchedImages = list }, nil
		},
	}
}

// launchedImage is what an instance keeps of its image. There is no architecture in it.
func launchedImage(i types.InstanceImageMetadata) snapshot.Image {
	m := i.ImageMetadata
	if m == nil {
		return snapshot.Image{}
	}
	return snapshot.Image{
		ID: aws.ToString(m.ImageId), Name: aws.ToString(m.Name), State: string(m.State), OwnerAlias: aws.ToString(m.ImageOwnerAlias),
		Owner: aws.ToString(m.OwnerId), Public: aws.ToBool(m.IsPublic), Created: instant(m.CreationDate), Deprecated: instant(m.DeprecationTime),
	}
}

// readImages takes a filter rather than the id parameter: one that was deregistered
// would make EC2 refuse the whole request.
func readImages(ctx context.Context, api ec2.DescribeImagesAPIClient, v *source.View) (source.Store, error) {
	var ids []string
	for _, in := range v.InScope() {
		ids = append(ids, in.AMI)
	}
	for _, t := range v.Snapshot.LaunchTemplates {
		ids = append(ids, t.Image)
	}
	for _, t := range v.ImageTerms {
		ids = append(ids, t.ID)
	}
	// A launch template may name a parameter in place of an image.
	ids = slices.DeleteFunc(source.Distinct(ids), func(id string) bool { return !strings.HasPrefix(id, "ami-") })
	var list []snapshot.Image
	for chunk := range slices.Chunk(ids, ec2api.MaxFilterValues) {
		p := ec2.NewDescribeImagesPaginator(api, &ec2.DescribeImagesInput{
			Filters: ec2api.AnyOf("image-id", chunk), IncludeDeprecated: aws.Bool(true), IncludeDisabled: aws.Bool(true),
		})
		more, err := ec2api.Pages(ctx, "images", p.HasMorePages, p.NextPage, func(out *ec2.DescribeImagesOutput) []snapshot.Image {
			return source.Each(out.Images, image)
		})
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	selected, more, err := selectImages(ctx, api, v.ImageTerms)
	if err != nil {
		return nil, err
	}
	list = source.Unique(append(list, more...), func(i snapshot.Image) string { return i.ID })
	return func(s *snapshot.Snapshot) { s.Images, s.SelectedImages = list, selected }, nil
}

// selectImages asks for the images of terms by name or tags, with the filters and the
// owners that Karpenter asks with (aws/karpenter-provider-aws pkg/providers/amifamily/ami.go,
// getFiltersAndOwners).
func selectImages(ctx context.Context, api ec2.DescribeImagesAPIClient, terms []snapshot.SelectorTerm) (selected []snapshot.SelectedImages, list []snapshot.Image, err error) {
	for _, t := range terms {
		if t.ID != "" || t.Name == "" && len(t.Tags) == 0 {
			continue
		}
		in := &ec2.DescribeImagesInput{Owners: []string{"self", "amazon"}, IncludeDeprecated: aws.Bool(true)}
		if t.Owner != "" {
			in.Owners = []string{t.Owner}
		}
		if t.Name != "" {
			in.Filters = ec2api.AnyOf("name", []string{t.Name})
		}
		for _, key := range slices.Sorted(maps.Keys(t.Tags)) {
			name, value := "tag:"+key, t.Tags[key]
			if value == "*" {
				name, value = "tag-key", key
			}
			in.Filters = append(in.Filters, ec2api.AnyOf(name, []string{value})...)
		}
		p := ec2.NewDescribeImagesPaginator(api, in)
		found, err := ec2api.Pages(ctx, "images", p.HasMorePages, p.NextPage, func(out *ec2.DescribeImagesOutput) []snapshot.Image {
			return source.Each(out.Images, image)
		})
		if err != nil {
			return nil, nil, err
		}
		list = append(list, found...)
		selected = append(selected, snapshot.SelectedImages{Term: t, Images: source.Each(found, func(i snapshot.Image) string { return i.ID })})
	}
	return selected, list, nil
}

func image(i types.Image) snapshot.Image {
	out := snapshot.Image{
		ID:           aws.ToString(i.ImageId),
		Name:         aws.ToString(i.Name),
		Architecture: string(i.Architecture),
		State:        string(i.State),
		OwnerAlias:   aws.ToString(i.ImageOwnerAlias),
		Owner:        aws.ToString(i.OwnerId),
		Public:       aws.ToBool(i.Public),
		Windows:      windows(i.Platform, i.PlatformDetails),
		Created:      instant(i.CreationDate),
		Deprecated:   instant(i.DeprecationTime),
	}
	if i.ImageAllowed != nil {
		out.Allowed = strconv.FormatBool(*i.ImageAllowed)
	}
	if t := i.InstanceTypeSpecification; t != nil {
		pattern := func(t types.InstanceTypeItem) string { return aws.ToString(t.InstanceType) }
		out.Supported, out.Unsupported = source.Each(t.SupportedInstanceTypes, pattern), source.Each(t.UnsupportedInstanceTypes, pattern)
	}
	return out
}

// instant reads a time that EC2 gives as text, "2026-11-12T01:02:03.000Z".
func instant(text *string) time.Time {
	t, err := time.Parse(time.RFC3339, aws.ToString(text))
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// Instances describes instances.
type Instances = ec2.DescribeInstancesAPIClient

// instances are those that a query brings: Find, FindTagged and the like.
func instances() source.Source {
	return source.Source{
		Name:  snapshot.Instances,
		Calls: []source.Call{{Action: "ec2:DescribeInstances"}},
	}
}

// instancePage is DescribeInstances' largest page.
const instancePage = 1000

// ByFilter reads all instances for which the filter has one of the values.
func ByFilter(ctx context.Context, api Instances, name string, values []string, more ...types.Filter) ([]snapshot.Instance, error) {
	var all []snapshot.Instance
	for chunk := range slices.Chunk(values, ec2api.MaxFilterValues) {
		pages := ec2.NewDescribeInstancesPaginator(api, &ec2.DescribeInstancesInput{
			Filters:    append([]types.Filter{{Name: aws.String(name), Values: chunk}}, more...),
			MaxResults: aws.Int32(instancePage),
		})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, fmt.Errorf("describe instances by %s: %w", name, err)
			}
			for _, reservation := range page.Reservations {
				for _, in := range reservation.Instances {
					all = append(all, instance(in))
				}
			}
		}
	}
	return all, nil
}

// ByID reads instances by id. A filter rather than the id parameter: one id
// that EC2 does not know would make it refuse the whole request.
func ByID(ctx context.Context, api Instances, ids []string) ([]snapshot.Instance, error) {
	return ByFilter(ctx, api, "instance-id", ids)
}

// Live leaves out instances that are long gone from a list by tag.
func Live() types.Filter {
	return types.Filter{Name: aws.String("instance-state-name"), Values: []string{"pending", "running"}}
}

// StatesOf are the states of those instances that EC2 knows.
func StatesOf(ctx context.Context, api Instances, ids []string) (map[string]string, error) {
	states := make(map[string]string, len(ids))
	for chunk := range slices.Chunk(ids, ec2api.MaxFilterValues) {
		// A filter rather than the id parameter: one id that EC2 does not know
		// would make it refuse the whole request.
		input := &ec2.DescribeInstancesInput{Filters: ec2api.AnyOf("instance-id", chunk), MaxResults: aws.Int32(instancePage)}
		for more := true; more; {
			out, err := api.DescribeInstances(ctx, input)
			if err != nil {
				return nil, fmt.Errorf("describe instances by instance-id: %w", err)
			}
			for _, reservation := range out.Reservations {
				for _, in := range reservation.Instances {
					id := aws.ToString(in.InstanceId)
					if id == "" || in.State == nil || in.State.Name == "" {
						return nil, fmt.Errorf("describe instances: %q has no state: %w", id, source.ErrHalf)
					}
					states[id] = string(in.State.Name)
				}
			}
			if more, err = ec2api.TurnPage(&input.NextToken, out.NextToken); err != nil {
				return nil, fmt.Errorf("describe instances: %w", err)
			}
		}
	}
	return states, nil
}

// Settings gets the account's settings of a Region that refuse launches.
type Settings interface {
	GetAllowedImagesSettings(context.Context, *ec2.GetAllowedImagesSettingsInput, ...func(*ec2.Options)) (*ec2.GetAllowedImagesSettingsOutput, error)
	GetInstanceMetadataDefaults(context.Context, *ec2.GetInstanceMetadataDefaultsInput, ...func(*ec2.Options)) (*ec2.GetInstanceMetadataDefaultsOutput, error)
}

// allowedImages is the setting Allowed AMIs.
func allowedImages(api Settings) source.Source {
	return setting(snapshot.AllowedImagesOf, "ec2:GetAllowedImagesSettings", func(ctx context.Context) (source.Store, error) {
		out, err := api.GetAllowedImagesSettings(ctx, &ec2.GetAllowedImagesSettingsInput{})
		if err != nil {
			return nil, fmt.Errorf("get allowed images settings: %w", err)
		}
		read := snapshot.AllowedImages{State: aws.ToString(out.State), ManagedBy: string(out.ManagedBy)}
		for _, c := range out.ImageCriteria {
			read.Providers = append(read.Providers, c.ImageProviders...)
		}
		return func(s *snapshot.Snapshot) { s.AllowedImages = &read }, nil
	})
}

// metadataDefaults are the instance metadata defaults.
func metadataDefaults(api Settings) source.Source {
	return setting(snapshot.MetadataDefaultsOf, "ec2:GetInstanceMetadataDefaults", func(ctx context.Context) (source.Store, error) {
		out, err := api.GetInstanceMetadataDefaults(ctx, &ec2.GetInstanceMetadataDefaultsInput{})
		if err != nil {
			return nil, fmt.Errorf("get instance metadata defaults: %w", err)
		}
		var read snapshot.MetadataDefaults
		if d := out.AccountLevel; d != nil {
			read = snapshot.MetadataDefaults{
				Metadata: snapshot.Metadata{Endpoint: string(d.HttpEndpoint), HopLimit: int(aws.ToInt32(d.HttpPutResponseHopLimit)), Tokens: string(d.HttpTokens)},
				Enforced: d.HttpTokensEnforced == types.HttpTokensEnforcedStateEnabled, ManagedBy: string(d.ManagedBy), Message: aws.ToString(d.ManagedExceptionMessage),
			}
		}
		return func(s *snapshot.Snapshot) { s.MetadataDefaults = &read }, nil
	})
}

// setting is a setting of the account that matters to refused launches alone: it takes no
// call in a look at which no launch was refused, unless what is planned is judged.
func setting(name snapshot.Source, action string, read func(context.Context) (source.Store, error)) source.Source {
	return source.Source{
		Name:  name,
		After: []snapshot.Source{snapshot.Activities, snapshot.NodeClaimsOf},
		Calls: []source.Call{{Action: action}},
		Read: func(ctx context.Context, v *source.View) (source.Store, error) {
			if !v.Settings && !refused(v.Snapshot) {
				return func(*snapshot.Snapshot) {}, nil
			}
			return read(ctx)
		},
	}
}

// refused reports whether a launch was refused in the last hour.
func refused(s *snapshot.Snapshot) bool {
	return len(s.Refused) > 0 || slices.ContainsFunc(s.Activities, func(a snapshot.Activity) bool {
		return s.Time.Sub(a.Started) <= time.Hour && activity.Launching(a.About, a.Message) && activity.StatusOf(a.Status, a.Message) == activity.Failed
	}) || slices.ContainsFunc(s.NodeClaims, func(c snapshot.NodeClaim) bool {
		return c.Instance == "" && c.Conditions["Launched"].Status != "True" && c.Conditions["Launched"].Message != ""
	})
}

// statuses are the status checks of the scope's instances.
func statuses(api ec2.DescribeInstanceStatusAPIClient) source.Source {
	return source.Source{
		Name:  snapshot.Statuses,
		Calls: []source.Call{{Action: "ec2:DescribeInstanceStatus"}},
		Read:  source.Through(api, readStatuses),
	}
}

// maxStatusIDs is DescribeInstanceStatus' limit of ids.
const maxStatusIDs = 100

// readStatuses reads the status checks of the scope's instances. The call knows no
// filter by id, and refuses all for one that EC2 has forgotten: then those
// that had ended are left out.
func readStatuses(ctx context.Context, api ec2.DescribeInstanceStatusAPIClient, v *source.View) (source.Store, error) {
	var list []snapshot.InstanceStatus
	lacks := map[string]snapshot.Failure{}
	for chunk := range slices.Chunk(v.InScope(), maxStatusIDs) {
		more, err := statusesOf(ctx, api, chunk)
		if err != nil && source.Gone(err) {
			f := *v.Source.Failure(err)
			live := slices.DeleteFunc(slices.Clone(chunk), snapshot.Instance.Ended)
			if len(live) == len(chunk) {
				return nil, err
			}
			for _, in := range chunk {
				if in.Ended() {
					lacks[in.ID] = f
				}
			}
			more, err = statusesOf(ctx, api, live)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, more...)
	}
	list = source.Unique(list, func(x snapshot.InstanceStatus) string { return x.Instance })
	return func(s *snapshot.Snapshot) {
		s.Statuses = list
		source.LackAll(s, snapshot.Statuses, lacks)
	}, nil
}

func statusesOf(ctx context.Context, api ec2.DescribeInstanceStatusAPIClient, of []snapshot.Instance) ([]snapshot.InstanceStatus, error) {
	if len(of) == 0 {
		return nil, nil // no ids would ask for all of the region's
	}
	out, err := api.DescribeInstanceStatus(ctx, &ec2.DescribeInstanceStatusInput{
		InstanceIds: source.Each(of, func(in snapshot.Instance) string { return in.ID }), IncludeAllInstances: aws.Bool(true),
	})
	if err != nil {
		return nil, fmt.Errorf("describe instance status: %w", err)
	}
	if aws.ToString(out.NextToken) != "" {
		return nil, fmt.Errorf("describe instance status: %w", source.ErrTooMany) // ids and pages exclude each other
	}
	return source.Each(out.InstanceStatuses, instanceStatus), nil
}

func instanceStatus(v types.InstanceStatus) snapshot.InstanceStatus {
	out := snapshot.InstanceStatus{Instance: aws.ToString(v.InstanceId)}
	if v.SystemStatus != nil {
		out.System = string(v.SystemStatus.Status)
	}
	if v.InstanceStatus != nil {
		out.OS = string(v.InstanceStatus.Status)
	}
	for _, e := range v.Events {
		out.Events = append(out.Events, snapshot.ScheduledEvent{Code: string(e.Code), Description: aws.ToString(e.Description), NotBefore: aws.ToTime(e.NotBefore)})
	}
	return out
}

// TemplateTags gives the tags that launch templates put on instances. One that is
// gone, or was never there, puts none.
func TemplateTags(ctx context.Context, api ec2.DescribeLaunchTemplateVersionsAPIClient, refs []snapshot.TemplateRef) (map[snapshot.TemplateRef]map[string]string, error) {
	all := map[snapshot.TemplateRef]map[string]string{}
	for _, ref := range refs {
		p := ec2.NewDescribeLaunchTemplateVersionsPaginator(api, templateInput(ref))
		list, err := ec2api.Pages(ctx, "launch template "+versionKey(ref), p.HasMorePages, p.NextPage, func(out *ec2.DescribeLaunchTemplateVersionsOutput) []map[string]string {
			return source.Each(out.LaunchTemplateVersions, instanceTags)
		})
		switch {
		case source.Gone(err):
		case err != nil:
			return nil, err
		case len(list) > 0:
			all[ref] = list[0]
		}
	}
	return all, nil
}

func instanceTags(v types.LaunchTemplateVersion) map[string]string {
	tags := map[string]string{}
	if v.LaunchTemplateData == nil {
		return tags
	}
	for _, s := range v.LaunchTemplateData.TagSpecifications {
		for _, t := range s.Tags {
			if s.ResourceType == types.ResourceTypeInstance {
				tags[aws.ToString(t.Key)] = aws.ToString(t.Value)
			}
		}
	}
	return tags
}

// launchTemplates are the versions that the scope's instances came from, and
// those that the groups would launch from now.
func launchTemplates(api ec2.DescribeLaunchTemplateVersionsAPIClient) source.Source {
	return source.Source{
		Name: snapshot.LaunchTemplates,
		After: []snapshot.Source{
			snapshot.Nodegroups,
		},
		Calls: []source.Call{{Action: "ec2:DescribeLaunchTemplateVersions"}},
		Read:  source.Through(api, readLaunchTemplates),
	}
}

// maxTemplates bounds the versions that are read in one look.
const maxTemplates = 10

// readLaunchTemplates reads one version a call: one that
// was deleted would make EC2 refuse the others too. What is missing is noted
// under the template's id and version, "lt-0abc version 3", and where the
// whole template is gone under its id too.
func readLaunchTemplates(ctx context.Context, api ec2.DescribeLaunchTemplateVersionsAPIClient, v *source.View) (source.Store, error) {
	var list []snapshot.LaunchTemplate
	lacks := map[string]snapshot.Failure{}
	for i, ref := range templates(v) {
		if i >= maxTemplates {
			lacks[versionKey(ref)] = v.Source.Skipped(fmt.Sprintf("%d other versions of launch templates were read in this look", maxTemplates))
			continue
		}
		got, err := readTemplate(ctx, api, ref)
		switch {
		case err == nil:
			list = addTemplates(list, got)
		case source.Gone(err):
			f := *v.Source.Failure(err)
			lacks[versionKey(ref)] = f
			if f.Code != "InvalidLaunchTemplateId.VersionNotFound" {
				lacks[templateKey(ref)] = f
			}
		default:
			return nil, err
		}
	}
	list = source.Sorted(list, func(t snapshot.LaunchTemplate) string { return t.ID + " " + t.Version })
	return func(s *snapshot.Snapshot) {
		s.LaunchTemplates = list
		source.LackAll(s, snapshot.LaunchTemplates, lacks)
	}, nil
}

// addTemplates adds versions, once each: one may be asked for by its number
// and as the latest, and only the second request shows that it is.
func addTemplates(list, more []snapshot.LaunchTemplate) []snapshot.LaunchTemplate {
	for _, t := range more {
		i := slices.IndexFunc(list, func(have snapshot.LaunchTemplate) bool { return have.ID == t.ID && have.Version == t.Version })
		if i < 0 {
			list = append(list, t)
			continue
		}
		list[i].Latest = list[i].Latest || t.Latest
	}
	return list
}

// templates are the versions in use, those of the scope's instances first.
func templates(v *source.View) []snapshot.TemplateRef {
	var refs []snapshot.TemplateRef
	add := func(ref snapshot.TemplateRef) {
		if ref.ID != "" {
			ref.Name = "" // the instances' tags name a template by its id alone
		}
		if (ref.ID != "" || ref.Name != "") && !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	for _, in := range v.InScope() {
		add(in.Template)
	}
	for _, g := range v.Snapshot.Groups {
		add(g.Template)
	}
	for _, n := range v.Snapshot.Nodegroups {
		add(n.Template)
	}
	return refs
}

func templateKey(ref snapshot.TemplateRef) string {
	if ref.ID != "" {
		return ref.ID
	}
	return ref.Name
}

func versionKey(ref snapshot.TemplateRef) string {
	return templateKey(ref) + " version " + ref.Version
}

func readTemplate(ctx context.Context, api ec2.DescribeLaunchTemplateVersionsAPIClient, ref snapshot.TemplateRef) ([]snapshot.LaunchTemplate, error) {
	p := ec2.NewDescribeLaunchTemplateVersionsPaginator(api, templateInput(ref))
	return ec2api.Pages(ctx, "launch template "+versionKey(ref), p.HasMorePages, p.NextPage, func(out *ec2.DescribeLaunchTemplateVersionsOutput) []snapshot.LaunchTemplate {
		return source.Each(out.LaunchTemplateVersions, func(v types.LaunchTemplateVersion) snapshot.LaunchTemplate {
			t := launchTemplate(v)
			t.Latest = ref.Version == "$Latest"
			return t
		})
	})
}

func templateInput(ref snapshot.TemplateRef) *ec2.DescribeLaunchTemplateVersionsInput {
	input := &ec2.DescribeLaunchTemplateVersionsInput{Versions: []string{ref.Version}}
	if ref.Version == "" {
		input.Versions = []string{"$Default"}
	}
	if ref.ID != "" {
		input.LaunchTemplateId = aws.String(ref.ID)
	} else {
		input.LaunchTemplateName = aws.String(ref.Name)
	}
	return input
}

func launchTemplate(v types.LaunchTemplateVersion) snapshot.LaunchTemplate {
	out := snapshot.LaunchTemplate{
		ID:      aws.ToString(v.LaunchTemplateId),
		Name:    aws.ToString(v.LaunchTemplateName),
		Default: aws.ToBool(v.DefaultVersion),
	}
	if v.VersionNumber != nil {
		out.Version = strconv.FormatInt(*v.VersionNumber, 10)
	}
	d := v.LaunchTemplateData
	if d == nil {
		return out
	}
	out.Image, out.Type = aws.ToString(d.ImageId), string(d.InstanceType)
	out.Groups = slices.Clone(d.SecurityGroupIds)
	if data, err := base64.StdEncoding.DecodeString(aws.ToString(d.UserData)); err == nil {
		out.UserData = data
	} else {
		out.UserData = []byte(aws.ToString(d.UserData)) // EC2 would refuse to launch it; what is there is shown
	}
	if m := d.MetadataOptions; m != nil {
		out.Metadata = snapshot.Metadata{Endpoint: string(m.HttpEndpoint), HopLimit: int(aws.ToInt32(m.HttpPutResponseHopLimit)), Tokens: string(m.HttpTokens)}
	}
	if p := d.IamInstanceProfile; p != nil {
		if out.Profile = aws.ToString(p.Arn); out.Profile == "" {
			out.Profile = aws.ToString(p.Name)
		}
	}
	for _, n := range d.NetworkInterfaces {
		out.Groups = append(out.Groups, n.Groups...)
		if fabric(n.InterfaceType) {
			out.EFAs = append(out.EFAs, snapshot.EFA{Groups: slices.Sorted(slices.Values(n.Groups))})
		}
		if aws.ToInt32(n.DeviceIndex) != 0 || aws.ToInt32(n.NetworkCardIndex) != 0 {
			continue
		}
		out.Subnet = aws.ToString(n.SubnetId)
		out.KeepsInterface = n.DeleteOnTermination != nil && !*n.DeleteOnTermination
		if n.AssociatePublicIpAddress != nil {
			out.PublicIP = strconv.FormatBool(*n.AssociatePublicIpAddress)
		}
	}
	out.Groups = source.Distinct(out.Groups)
	out.GroupsTwice = len(d.SecurityGroupIds) > 0 && len(d.NetworkInterfaces) > 0
	out.Spot = d.InstanceMarketOptions != nil && d.InstanceMarketOptions.MarketType == types.MarketTypeSpot
	if c := d.CapacityReservationSpecification; c != nil && c.CapacityReservationTarget != nil {
		out.Reservation = aws.ToString(c.CapacityReservationTarget.CapacityReservationId)
	}
	if p := d.Placement; p != nil {
		out.PlacementGroup, out.Host = cmp.Or(aws.ToString(p.GroupName), aws.ToString(p.GroupId)), cmp.Or(aws.ToString(p.HostId), aws.ToString(p.HostResourceGroupArn))
		if p.Tenancy != types.TenancyDefault {
			out.Tenancy = string(p.Tenancy)
		}
	}
	for _, b := range d.BlockDeviceMappings {
		if b.Ebs != nil {
			out.KMSKeys = append(out.KMSKeys, aws.ToString(b.Ebs.KmsKeyId))
		}
	}
	out.KMSKeys = source.Distinct(out.KMSKeys)
	return out
}
