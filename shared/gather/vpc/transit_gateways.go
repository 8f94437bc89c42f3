package vpc

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"rollcall/shared/gather/ec2api"
	"rollcall/shared/gather/source"
	"rollcall/shared/network/address"
	"rollcall/shared/network/branch"
	"rollcall/shared/network/leak"
	"rollcall/shared/snapshot"
)

// Transit describes transit gateways as the owner of an attachment sees them,
// and the VPCs behind them.
type Transit interface {
	ec2.DescribeTransitGatewayAttachmentsAPIClient
	ec2.SearchTransitGatewayRoutesAPIClient
	ec2.DescribeSubnetsAPIClient
	ec2.DescribeRouteTablesAPIClient
	ec2.DescribeNatGatewaysAPIClient
	ec2.DescribeNetworkAclsAPIClient
}

// transitGateways are what lies behind the transit gateways that routes lead
// to, and the VPCs of this account through which they reach the internet.
func transitGateways(api Transit) source.Source {
	return source.Source{
		Name:  snapshot.TransitGateways,
		Needs: []snapshot.Source{snapshot.RouteTables},
		After: []snapshot.Source{
			snapshot.Subnets, // of further VPCs that is read which was read of the cluster's own
			snapshot.NATGateways,
			snapshot.NetworkACLs,
		},
		Calls: []source.Call{
			{Action: "ec2:DescribeTransitGatewayAttachments"},
			{Action: "ec2:SearchTransitGatewayRoutes", Resources: []string{"arn:${Partition}:ec2:${Region}:${Account}:transit-gateway-route-table/*"}},
		},
		Read: source.Through(api, readTransit),
	}
}

// MaxFurther bounds the VPCs behind a transit gateway that are looked into:
// traffic to the internet leaves by one, or by one for each zone.
const MaxFurther = 3

func readTransit(ctx context.Context, api Transit, v *source.View) (source.Store, error) {
	if !v.Snapshot.Has(snapshot.RouteTables) {
		return nil, v.Unread(snapshot.RouteTables)
	}
	gateways := targets(v.Snapshot, snapshot.ToTransitGateway)
	if len(gateways) == 0 {
		return source.Nothing, nil
	}
	attachments, owners, err := readAttachments(ctx, api, gateways)
	if err != nil {
		return nil, err
	}
	own := tablesOf(attachments, v.VPCs)
	routes, lacks, err := readTables(ctx, api, v, own, owners)
	if err != nil {
		return nil, err
	}
	far := exits(attachments, routes, v.Account, v.VPCs)
	// Answers take the tables of the VPCs through which requests leave.
	back := slices.DeleteFunc(tablesOf(attachments, far), func(id string) bool { return slices.Contains(own, id) })
	answers, more, _ := readTables(ctx, api, v, back, owners) // what failed is in more
	maps.Copy(lacks, more)
	beyond := readBeyond(ctx, api, v, far)
	return func(s *snapshot.Snapshot) {
		s.Attachments = attachments
		s.TransitRoutes = append(routes, answers...)
		source.LackAll(s, snapshot.TransitGateways, lacks)
		beyond(s)
	}, nil
}

// readTables reads the routes of transit gateways' tables, and why some
// were not. The error is about the last one that is there and was not read.
func readTables(ctx context.Context, api Transit, v *source.View, tables []string, owners map[string]string) ([]snapshot.TransitRoute, map[string]snapshot.Failure, error) {
	lacks := map[string]snapshot.Failure{}
	var failed error
	var routes []snapshot.TransitRoute
	for _, table := range tables {
		if owner := owners[table]; owner != "" && v.Account != "" && owner != v.Account {
			lacks[table] = snapshot.Failure{
				Source: snapshot.TransitGateways, Reason: snapshot.NotRead, Call: "ec2:SearchTransitGatewayRoutes",
				Message: "the transit gateway belongs to account " + owner + ", which alone can read its route tables",
			}
			continue
		}
		list, err := readTransitRoutes(ctx, api, table)
		routes = append(routes, list...)
		if err != nil {
			lacks[table] = *v.Source.Failure(err)
			if !source.Gone(err) {
				failed = err
			}
		}
	}
	return routes, lacks, failed
}

// readAttachments reads the attachments of transit gateways, and which account
// owns the route table of each.
func readAttachments(ctx context.Context, api ec2.DescribeTransitGatewayAttachmentsAPIClient, gateways []string) ([]snapshot.Attachment, map[string]string, error) {
	owners := map[string]string{}
	p := ec2.NewDescribeTransitGatewayAttachmentsPaginator(api, &ec2.DescribeTransitGatewayAttachmentsInput{Filters: ec2api.AnyOf("transit-gateway-id", gateways)})
	list, err := ec2api.Pages(ctx, "transit gateway attachments", p.HasMorePages, p.NextPage, func(out *ec2.DescribeTransitGatewayAttachmentsOutput) []snapshot.Attachment {
		return source.Each(out.TransitGatewayAttachments, func(a types.TransitGatewayAttachment) snapshot.Attachment {
			converted := attachment(a)
			if converted.Table != "" {
				owners[converted.Table] = aws.ToString(a.TransitGatewayOwnerId)
			}
			return converted
		})
	})
	if err != nil {
		return nil, nil, err
	}
	return source.Unique(list, func(a snapshot.Attachment) string { return a.ID }), owners, nil
}

// readTransitRoutes reads a transit gateway's route table. The call wants at
// least one filter; both states together are all routes.
func readTransitRoutes(ctx context.Context, api ec2.SearchTransitGatewayRoutesAPIClient, table string) ([]snapshot.TransitRoute, error) {
	var list []snapshot.TransitRoute
	p := ec2.NewSearchTransitGatewayRoutesPaginator(api, &ec2.SearchTransitGatewayRoutesInput{
		TransitGatewayRouteTableId: aws.String(table), Filters: ec2api.AnyOf("state", []string{"active", "blackhole"}),
	})
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("search the routes of %s: %w", table, err)
		}
		// Without a token there is no next page to ask for: a table of more
		// than a thousand routes is then not known in full.
		if aws.ToBool(page.AdditionalRoutesAvailable) && aws.ToString(page.NextToken) == "" {
			return nil, fmt.Errorf("search the routes of %s: %w", table, source.ErrTooMany)
		}
		for _, route := range page.Routes {
			list = append(list, transitRoute(table, route))
		}
	}
	return list, nil
}

func attachment(a types.TransitGatewayAttachment) snapshot.Attachment {
	out := snapshot.Attachment{
		ID:       aws.ToString(a.TransitGatewayAttachmentId),
		Gateway:  aws.ToString(a.TransitGatewayId),
		Kind:     string(a.ResourceType),
		Resource: aws.ToString(a.ResourceId),
		Owner:    aws.ToString(a.ResourceOwnerId),
		State:    string(a.State),
		// Only the gateway's owner sees it (EC2 API, TransitGatewayAttachment,
		// natGatewaySupport). While it is switched on or off it may do either.
		Translates: a.NatGatewaySupport != "" && a.NatGatewaySupport != types.TransitGatewayAttachmentNatGatewaySupportStateDisabled,
	}
	if n := a.Association; n != nil && (n.State == "" || n.State == types.TransitGatewayAssociationStateAssociated || n.State == types.TransitGatewayAssociationStateAssociating) {
		out.Table = aws.ToString(n.TransitGatewayRouteTableId)
	}
	return out
}

func transitRoute(table string, r types.TransitGatewayRoute) snapshot.TransitRoute {
	out := snapshot.TransitRoute{Table: table, Destination: source.Prefix(r.DestinationCidrBlock), State: string(r.State)}
	for _, a := range r.TransitGatewayAttachments {
		out.Attachments = append(out.Attachments, aws.ToString(a.TransitGatewayAttachmentId))
		out.Resources = append(out.Resources, aws.ToString(a.ResourceId))
	}
	return out
}

// tablesOf are the transit gateway route tables that VPCs' attachments use.
func tablesOf(list []snapshot.Attachment, vpcs []string) []string {
	var ids []string
	for _, a := range list {
		if slices.Contains(vpcs, a.Resource) {
			ids = append(ids, a.Table)
		}
	}
	return source.Distinct(ids)
}

// exits are the account's other VPCs to which default routes lead.
func exits(attachments []snapshot.Attachment, routes []snapshot.TransitRoute, account string, vpcs []string) []string {
	var ids []string
	for _, r := range routes {
		if !r.Destination.IsValid() || r.Destination.Bits() > 0 || r.State != "active" {
			continue
		}
		for _, id := range r.Attachments {
			i := slices.IndexFunc(attachments, func(a snapshot.Attachment) bool { return a.ID == id })
			if i < 0 {
				continue // of an account that this one may not see
			}
			if a := attachments[i]; a.Kind == string(types.TransitGatewayAttachmentResourceTypeVpc) && a.Owner == account && !slices.Contains(vpcs, a.Resource) {
				ids = append(ids, a.Resource)
			}
		}
	}
	ids = source.Distinct(ids)
	return ids[:min(len(ids), MaxFurther)]
}

// interfacePage is DescribeNetworkInterfaces' largest page.
const interfacePage = 1000

// available is the state of an interface that nothing is attached to.
const available = string(types.NetworkInterfaceStatusAvailable)

// count is what one description of a VPC told.
type count struct {
	uses []snapshot.Use
	idle []snapshot.Interface
	// attached are the makers of idle interfaces that have others attached to
	// them, tenants the clusters that interfaces name.
	attached map[string]bool
	tenants  []string
	// trunking are the interfaces of the VPC resource controller: trunks and branches.
	trunking []snapshot.Interface
	// kept are the reservations that were counted in.
	kept []snapshot.Reservation
}

// Counts are the VPCs whose interfaces were counted in one sweep.
type Counts struct {
	lock oneAtATime
	of   map[string]count
}

// oneAtATime is a lock. Unlike a mutex's its wait ends with the context: who
// has it makes calls.
type oneAtATime struct {
	once sync.Once
	free chan struct{}
}

func (o *oneAtATime) take(ctx context.Context) error {
	o.once.Do(func() { o.free = make(chan struct{}, 1) })
	select {
	case o.free <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (o *oneAtATime) give() { <-o.free }

// tally counts the interfaces of a VPC for one look. The sources that use it
// are read one after the other.
type tally struct {
	api   ec2.DescribeNetworkInterfacesAPIClient
	sweep *Counts // nil where each look counts for itself
	tried bool
	found count
	err   error
}

// NewTally makes the tally of one look.
func NewTally(api ec2.DescribeNetworkInterfacesAPIClient, sweep *Counts) *tally {
	if sweep == nil {
		sweep = &Counts{}
	}
	return &tally{api: api, sweep: sweep}
}

// count describes the cluster's VPC, unless this sweep has done so.
func (t *tally) count(ctx context.Context, v *source.View) (count, error) {
	t.tried = true
	t.found, t.err = t.sweep.count(ctx, t.api, v)
	return t.found, t.err
}

// got is what this look counted, if it tried: what failed one source is not
// tried again for another.
func (t *tally) got() (c count, err error, tried bool) { return t.found, t.err, t.tried }

// attached are the makers of idle interfaces that have an interface attached,
// where all of the VPC were counted.
func (t *tally) attached(v *source.View) map[string]bool {
	if !v.Snapshot.Has(snapshot.Usage) {
		return nil
	}
	return t.found.attached
}

// count describes a VPC once for all looks of a sweep: of two that ask at the
// same time the second waits for the first.
func (known *Counts) count(ctx context.Context, api ec2.DescribeNetworkInterfacesAPIClient, v *source.View) (count, error) {
	if err := known.lock.take(ctx); err != nil {
		return count{}, err
	}
	defer known.lock.give()
	vpc := v.VPCs[0]
	// Another cluster may launch into subnets whose reservations the first one
	// did not ask for: what holds none there needs no second description.
	if c, done := known.of[vpc]; done && !slices.ContainsFunc(v.Snapshot.Reservations, func(r snapshot.Reservation) bool { return !slices.Contains(c.kept, r) }) {
		return c, nil
	}
	t := address.NewTally(v.Snapshot.Subnets, v.Snapshot.Reservations)
	c := count{kept: slices.Clone(v.Snapshot.Reservations)}
	holders, tenants := map[string]bool{}, map[string]bool{}
	err := eachInterface(ctx, api, ec2api.In("vpc-id", vpc), func(i snapshot.Interface) {
		t.Add(i)
		if i.Status == available {
			c.idle = append(c.idle, i)
		}
		if i.Tags[interfaceOwnerTag] == resourceOwner {
			c.trunking = append(c.trunking, i)
		}
		if holds(v, i) {
			holders[i.Instance] = true
		}
		for _, name := range tenantsOf(i) {
			tenants[name] = true
		}
	})
	if err != nil {
		return count{}, err
	}
	c.attached = map[string]bool{}
	for _, id := range makers(c.idle) {
		if holders[id] {
			c.attached[id] = true
		}
	}
	c.tenants = slices.Sorted(maps.Keys(tenants))
	c.uses = t.Uses()
	c.idle = source.Unique(c.idle, func(i snapshot.Interface) string { return i.ID })
	if known.of == nil {
		known.of = map[string]count{}
	}
	known.of[vpc] = c
	return c, nil
}

// eachInterface describes interfaces page by page, and holds one page at a time.
func eachInterface(ctx context.Context, api ec2.DescribeNetworkInterfacesAPIClient, filters []types.Filter, do func(snapshot.Interface)) error {
	input := &ec2.DescribeNetworkInterfacesInput{Filters: filters, MaxResults: aws.Int32(interfacePage)}
	for {
		out, err := api.DescribeNetworkInterfaces(ctx, input)
		if err != nil {
			return fmt.Errorf("describe network interfaces: %w", err)
		}
		for _, n := range out.NetworkInterfaces {
			do(networkInterface(n))
		}
		more, err := ec2api.TurnPage(&input.NextToken, out.NextToken)
		if err != nil {
			return fmt.Errorf("describe network interfaces: %w", err)
		}
		if !more {
			return nil
		}
	}
}

// holds reports whether an interface proves that an instance of the account is
// there. Another account's instance is unknown to our EC2 and lives all the
// same (shared VPCs), so it proves nothing of what EC2 should know.
func holds(v *source.View, i snapshot.Interface) bool {
	account := v.Snapshot.Account
	if part := strings.Split(v.Snapshot.Cluster.ARN, ":"); account == "" && len(part) > 4 {
		account = part[4]
	}
	return i.Attached && i.Instance != "" && (account == "" || i.Account == "" || i.Account == account)
}

// tenantsOf are the clusters that an interface names: in the VPC CNI's tag, in
// that which Kubernetes' controllers and older VPC CNIs give, and in the
// description of the control plane's own (EKS user guide, "View Amazon EKS
// networking requirements": "Amazon EKS" and the cluster's name). EC2 says of
// those that no service manages them (RequesterManaged is false, the requester
// is EKS's role: as printed for re:Invent 2018, NET410), and most bear no tag: the
// description alone tells. Whoever else writes the like keeps interfaces from
// being deleted, no more. An empty name has no owner.
func tenantsOf(i snapshot.Interface) []string {
	names := []string{i.Tags[leak.TagCluster]}
	for key := range i.Tags {
		if name, ok := strings.CutPrefix(key, "kubernetes.io/cluster/"); ok {
			names = append(names, name)
		}
	}
	if name, ok := strings.CutPrefix(i.Description, "Amazon EKS "); ok {
		names = append(names, name)
	}
	return source.Distinct(names)
}

// The tags that the VPC resource controller gives its interfaces
// (amazon-vpc-resource-controller-k8s pkg/config/type.go).
const (
	interfaceOwnerTag = "eks:eni:owner"
	resourceOwner     = "eks-vpc-resource-controller"
	trunkTag          = "vpcresources.k8s.aws/trunk-eni-id"
	clusterTag        = "kubernetes.io/cluster/"
)

// trunks are the trunk interfaces of the cluster's nodes, with how many branch
// interfaces each has. They are requested only where something shows that pods have
// security groups of their own. Those that EKS Auto Mode makes bear other tags.
//
// Where all interfaces of the VPC were counted they are among them, and nothing is asked.
func trunks(api ec2.DescribeNetworkInterfacesAPIClient, counted *tally) source.Source {
	return source.Source{
		Name:  snapshot.TrunksOf,
		After: []snapshot.Source{snapshot.AWSNode, snapshot.Nodes, snapshot.WaitingPods, snapshot.Usage},
		Calls: []source.Call{{Action: "ec2:DescribeNetworkInterfaces"}},
		Read: func(ctx context.Context, v *source.View) (source.Store, error) {
			if c, err, tried := counted.got(); tried {
				if err != nil {
					return nil, err
				}
				found, strays := trunksOf(slices.DeleteFunc(slices.Clone(c.trunking), func(i snapshot.Interface) bool {
					return i.Tags[clusterTag+v.Snapshot.Cluster.Name] != "owned"
				}))
				return func(s *snapshot.Snapshot) { s.Trunks, s.StrayBranches = found, strays }, nil
			}
			// Where the count failed nothing else shows strays of nodes that are gone.
			if _, uncounted := v.Snapshot.Failures[snapshot.Usage]; !uncounted && !branching(v.Snapshot) {
				return source.Nothing, nil
			}
			var list []snapshot.Interface
			filters := append(ec2api.In("vpc-id", v.VPCs[0]), ec2api.In("tag:"+interfaceOwnerTag, resourceOwner)...)
			filters = append(filters, ec2api.In("tag:"+clusterTag+v.Snapshot.Cluster.Name, "owned")...)
			if err := eachInterface(ctx, api, filters, func(i snapshot.Interface) { list = append(list, i) }); err != nil {
				return nil, err
			}
			found, strays := trunksOf(list)
			return func(s *snapshot.Snapshot) { s.Trunks, s.StrayBranches = found, strays }, nil
		},
	}
}

// branching reports whether pods have branch interfaces here, or ask for them.
func branching(s *snapshot.Snapshot) bool {
	return s.CNI != nil && strings.EqualFold(s.CNI.Env["ENABLE_POD_ENI"], "true") || len(s.BranchWaits) > 0 ||
		slices.ContainsFunc(s.Nodes, func(n snapshot.Node) bool { return n.Branches > 0 }) ||
		slices.ContainsFunc(s.WaitingPods, func(p snapshot.WaitingPod) bool { return p.AsksFor(branch.Resource) })
}

// trunksOf sorts the controller's interfaces. A branch interface is attached to no
// instance: its tag names the trunk.
func trunksOf(list []snapshot.Interface) (trunks []snapshot.Trunk, strays []snapshot.StrayBranch) {
	at := map[string]int{}
	list = source.Unique(list, func(i snapshot.Interface) string { return i.ID })
	for _, i := range list {
		if i.Kind == string(types.NetworkInterfaceTypeTrunk) {
			at[i.ID] = len(trunks)
			trunks = append(trunks, snapshot.Trunk{ID: i.ID, Instance: i.Instance, Subnet: i.Subnet})
		}
	}
	for _, i := range list {
		trunk := i.Tags[trunkTag]
		n, known := at[trunk]
		switch {
		case trunk == "":
		case known:
			trunks[n].Branches++
		case i.Status == available:
			strays = append(strays, snapshot.StrayBranch{ID: i.ID, Subnet: i.Subnet})
		}
	}
	slices.SortFunc(strays, func(a, b snapshot.StrayBranch) int {
		return cmp.Or(strings.Compare(a.Subnet, b.Subnet), strings.Compare(a.ID, b.ID))
	})
	return trunks, strays
}

// usage is how the subnets of the cluster's VPC are used: every interface of it
// is counted.
func usage(api ec2.DescribeSubnetsAPIClient, counted *tally) source.Source {
	return source.Source{
		Name:  snapshot.Usage,
		Needs: []snapshot.Source{snapshot.Subnets, snapshot.CIDRsKept},
		Calls: []source.Call{{Action: "ec2:DescribeNetworkInterfaces"}},
		// 100,000 interfaces are a hundred pages, one after the other, and EC2
		// takes the better part of a second for each.
		Timeouts: 6,
		Read: func(ctx context.Context, v *source.View) (source.Store, error) {
			for _, name := range []snapshot.Source{snapshot.Subnets, snapshot.CIDRsKept} {
				if !v.Snapshot.Has(name) {
					return nil, v.Unread(name)
				}
			}
			c, err := counted.count(ctx, v)
			if err != nil {
				return nil, err
			}
			free, err := freeAgain(ctx, api, v.Snapshot.Subnets)
			if err != nil {
				return nil, err
			}
			return func(s *snapshot.Snapshot) {
				s.Uses, s.Tenants = slices.Clone(c.uses), slices.Clone(c.tenants)
				free(s)
			}, nil
		},
	}
}

// unattached are the interfaces that nothing is attached to: out of the pages
// that were counted, or by a filter where none are counted.
func unattached(api ec2.DescribeSubnetsAPIClient, counted *tally) source.Source {
	return source.Source{
		Name:  snapshot.Unattached,
		After: []snapshot.Source{snapshot.Usage, snapshot.Subnets},
		Calls: []source.Call{{Action: "ec2:DescribeNetworkInterfaces"}},
		Read: func(ctx context.Context, v *source.View) (source.Store, error) {
			if c, err, tried := counted.got(); tried {
				if err != nil {
					return nil, err
				}
				return func(s *snapshot.Snapshot) { s.Idle = slices.Clone(c.idle) }, nil
			}
			var idle []snapshot.Interface
			err := eachInterface(ctx, counted.api, append(ec2api.In("vpc-id", v.VPCs[0]), ec2api.In("status", available)...), func(i snapshot.Interface) { idle = append(idle, i) })
			if err != nil {
				return nil, err
			}
			idle = source.Unique(idle, func(i snapshot.Interface) string { return i.ID })
			free, err := freeAgain(ctx, api, v.Snapshot.Subnets)
			if err != nil {
				return nil, err
			}
			return func(s *snapshot.Snapshot) {
				s.Idle = idle
				free(s)
			}, nil
		},
	}
}

// Attributes describes the attributes of a VPC.
type Attributes interface {
	DescribeVpcAttribute(context.Context, *ec2.DescribeVpcAttributeInput, ...func(*ec2.Options)) (*ec2.DescribeVpcAttributeOutput, error)
}

// vpcAttributes are the switches of the VPCs' DNS.
func vpcAttributes(api Attributes) source.Source {
	return source.Source{
		Name: snapshot.VPCDNS,
		Calls: []source.Call{
			{Action: "ec2:DescribeVpcAttribute", Resources: []string{"arn:${Partition}:ec2:${Region}:*:vpc/*"}}, // a shared VPC bears its owner's account
		},
		Read: source.List(func(ctx context.Context, v *source.View) ([]snapshot.VPCAttributes, error) {
			return readVPCDNS(ctx, api, v.VPCs)
		}, func(x snapshot.VPCAttributes) string { return x.VPC }, func(s *snapshot.Snapshot) *[]snapshot.VPCAttributes { return &s.VPCAttributes }),
	}
}

func readVPCDNS(ctx context.Context, api Attributes, vpcs []string) ([]snapshot.VPCAttributes, error) {
	return source.AtOnce(vpcs, func(vpc string) (snapshot.VPCAttributes, error) { return readDNS(ctx, api, vpc) })
}

// readDNS asks for one switch at a time: the call gives no more.
func readDNS(ctx context.Context, api Attributes, vpc string) (snapshot.VPCAttributes, error) {
	on, err := source.AtOnce([]types.VpcAttributeName{types.VpcAttributeNameEnableDnsSupport, types.VpcAttributeNameEnableDnsHostnames}, func(name types.VpcAttributeName) (bool, error) {
		got, err := api.DescribeVpcAttribute(ctx, &ec2.DescribeVpcAttributeInput{VpcId: aws.String(vpc), Attribute: name})
		if err != nil {
			return false, fmt.Errorf("describe %s of %s: %w", name, vpc, err)
		}
		value := cmp.Or(got.EnableDnsSupport, got.EnableDnsHostnames)
		if value == nil || value.Value == nil {
			return false, fmt.Errorf("describe %s of %s: the answer does not hold it", name, vpc)
		}
		return *value.Value, nil
	})
	if err != nil {
		return snapshot.VPCAttributes{}, err
	}
	return snapshot.VPCAttributes{VPC: vpc, DNSSupport: on[0], DNSHostnames: on[1]}, nil
}

// vpcs are those to look into.
func vpcs(api ec2.DescribeVpcsAPIClient) source.Source {
	return source.Source{
		Name:  snapshot.VPCs,
		Calls: []source.Call{{Action: "ec2:DescribeVpcs"}},
		Read: source.List(func(ctx context.Context, v *source.View) ([]snapshot.VPC, error) {
			return readVPCs(ctx, api, v.VPCs)
		}, func(x snapshot.VPC) string { return x.ID }, func(s *snapshot.Snapshot) *[]snapshot.VPC { return &s.VPCs }),
	}
}

func readVPCs(ctx context.Context, api ec2.DescribeVpcsAPIClient, vpcs []string) ([]snapshot.VPC, error) {
	out, err := api.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{VpcIds: vpcs})
	if err != nil {
		return nil, fmt.Errorf("describe vpcs: %w", err)
	}
	return source.Each(out.Vpcs, vpcOf), nil
}

// blockMode is the mode that EC2 reports of a VPC or subnet.
func blockMode(s *types.BlockPublicAccessStates) snapshot.BlockMode {
	if s == nil {
		return ""
	}
	return snapshot.BlockMode(s.InternetGatewayBlockMode)
}

func vpcOf(v types.Vpc) snapshot.VPC {
	out := snapshot.VPC{ID: aws.ToString(v.VpcId), DHCP: aws.ToString(v.DhcpOptionsId), Owner: aws.ToString(v.OwnerId), BlockMode: blockMode(v.BlockPublicAccessStates), Tags: ec2api.Tags(v.Tags)}
	if e := v.EncryptionControl; e != nil {
		// Mode is what was asked for, and counts once the state is available (VPC user
		// guide, "Enforce VPC encryption in transit").
		out.Encrypts = e.Mode == types.VpcEncryptionControlModeEnforce && e.State == types.VpcEncryptionControlStateAvailable
	}
	for _, a := range v.CidrBlockAssociationSet {
		// A block that is being taken away still stands in the list.
		if a.CidrBlockState != nil && a.CidrBlockState.State != types.VpcCidrBlockStateCodeAssociated {
			continue
		}
		if p := source.Prefix(a.CidrBlock); p.IsValid() {
			out.CIDRs = append(out.CIDRs, p)
		}
	}
	if p := source.Prefix(v.CidrBlock); p.IsValid() && !slices.Contains(out.CIDRs, p) {
		out.CIDRs = append(out.CIDRs, p)
	}
	for _, a := range v.Ipv6CidrBlockAssociationSet {
		if a.Ipv6CidrBlockState != nil && a.Ipv6CidrBlockState.State != types.VpcCidrBlockStateCodeAssociated {
			continue
		}
		if p := source.Prefix(a.Ipv6CidrBlock); p.IsValid() {
			out.IPv6 = append(out.IPv6, p)
		}
	}
	return out
}
