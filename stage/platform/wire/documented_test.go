package wire

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	astypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
)

// source is a file of the module that is not a test.
type source struct {
	path string
	file *ast.File
}

// sources parses what of the module is not a test, below folders.
func sources(t *testing.T, folders ...string) (list []source) {
	t.Helper()
	for _, folder := range folders {
		root := filepath.Join("..", "..", "..", folder)
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata") {
				return filepath.SkipDir
			}
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			list = append(list, source{path, file})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// literal is a text that stands in the code, also in aws.String.
func literal(e ast.Expr) (string, bool) {
	if call, ok := e.(*ast.CallExpr); ok && len(call.Args) == 1 && named(call.Fun) == "String" {
		e = call.Args[0]
	}
	if b, ok := e.(*ast.BasicLit); ok && b.Kind == token.STRING {
		text, err := strconv.Unquote(b.Value)
		return text, err == nil
	}
	return "", false
}

// named is the last name of an expression: "ErrorCode" of err.ErrorCode.
func named(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.IndexExpr:
		return named(e.X)
	case *ast.ArrayType:
		return named(e.Elt)
	case *ast.CallExpr:
		return named(e.Fun)
	}
	return ""
}

// asked is an operation, by what is called after it: its client's method, its request, its
// paginator, or a function of ours that pages through it.
var asked = regexp.MustCompile(`^(?:New)?([A-Za-z]\w*?)(?:Input|Paginator)?$`)

// operationsIn are the operations with filters that a piece of code names.
func operationsIn(filters map[string][]string, n ast.Node) (list []string) {
	ours := map[string]string{"DescribeInterfaces": "DescribeNetworkInterfaces", "eachInterface": "DescribeNetworkInterfaces", "describeVolumes": "DescribeVolumes", "describeGroups": "DescribeAutoScalingGroups"}
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if m := asked.FindStringSubmatch(id.Name); m != nil {
				op := m[1]
				if own, ok := ours[op]; ok {
					op = own
				}
				if filters[op] != nil {
					list = append(list, op)
				}
			}
		}
		return true
	})
	return list
}

// TestFilters holds every filter that the code asks with, and every one that the stage
// answers, against the documentation of its operation: EC2 refuses what is not there
// (InvalidParameterValue), and a stage that took it has hidden that before.
func TestFilters(t *testing.T) {
	all, err := readModels()
	if err != nil {
		t.Fatal(err)
	}
	filters := map[string][]string{}
	for _, service := range []string{"ec2", "autoscaling"} {
		for op, names := range all[service].filters {
			filters[op] = names
		}
	}
	found := 0
	for _, s := range sources(t, "shared", "functions", "infra", "command", "stage", "tools") {
		for _, d := range s.file.Decls {
			ops := operationsIn(filters, d)
			if len(ops) == 0 {
				ops = operationsIn(filters, s.file)
			}
			hold := func(name string) {
				found++
				if !slices.ContainsFunc(ops, func(op string) bool { return listedFilter(filters[op], name) }) {
					t.Errorf("%s: the documentation of %q lists no filter %q", s.path, slices.Compact(ops), name)
				}
			}
			ast.Inspect(d, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					if f := named(n.Fun); len(n.Args) == 2 && (f == "AnyOf" || f == "In" || f == "filter") {
						if name, ok := literal(n.Args[0]); ok {
							hold(name)
						}
					}
				case *ast.CompositeLit:
					kind := named(n.Type)
					for _, e := range n.Elts {
						switch e := e.(type) {
						case *ast.CompositeLit: // of a list of filters
							if kind == "Filter" {
								holdNames(e, hold)
							}
						case *ast.KeyValueExpr:
							if name, ok := literal(e.Key); ok && kind == "Filters" { // what the stage answers
								hold(name)
							}
						}
					}
					if kind == "Filter" {
						holdNames(n, hold)
					}
				}
				return true
			})
		}
	}
	if found < 60 {
		t.Errorf("%d filters were found in the code", found)
	}
}

func holdNames(filter *ast.CompositeLit, hold func(string)) {
	for _, e := range filter.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok && named(pair.Key) == "Name" {
			if name, ok := literal(pair.Value); ok {
				hold(name)
			}
		}
	}
}

// matched are the error codes that a piece of code compares with: what ErrorCode() or a field
// or variable of that name is, and what a helper by the name of coded looks for.
func matched(n ast.Node, hold func(string)) {
	isCode := func(e ast.Expr) bool { return slices.Contains([]string{"ErrorCode", "code", "Code"}, named(e)) }
	each := func(list []ast.Expr) {
		for _, e := range list {
			if text, ok := literal(e); ok && text != "" {
				hold(text)
			}
		}
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if (n.Op == token.EQL || n.Op == token.NEQ) && isCode(n.X) {
				each([]ast.Expr{n.Y})
			}
		case *ast.SwitchStmt:
			if n.Tag != nil && isCode(n.Tag) {
				for _, c := range n.Body.List {
					each(c.(*ast.CaseClause).List)
				}
			}
		case *ast.CallExpr:
			if named(n.Fun) == "coded" && len(n.Args) > 1 {
				each(n.Args[1:])
			}
			if list, ok := n.Args, named(n.Fun) == "Contains" && len(n.Args) == 2; ok && isCode(list[1]) {
				if lit, ok := list[0].(*ast.CompositeLit); ok {
					each(lit.Elts)
				}
			}
		}
		return true
	})
}

// answered are the error codes that a piece of the stage answers with.
func answered(n ast.Node, hold func(string)) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if f := named(n.Fun); len(n.Args) > 1 && (f == "notFound" || f == "Errorf") {
				if s, ok := n.Fun.(*ast.SelectorExpr); f == "notFound" || ok && named(s.X) == "wire" {
					if code, ok := literal(n.Args[0]); ok {
						hold(code)
					}
				}
			}
		case *ast.CompositeLit:
			if named(n.Type) == "Error" || named(n.Type) == "choice" {
				for _, e := range n.Elts {
					if pair, ok := e.(*ast.KeyValueExpr); ok && slices.Contains([]string{"Code", "missing"}, named(pair.Key)) {
						if code, ok := literal(pair.Value); ok {
							hold(code)
						}
					}
				}
			}
		}
		return true
	})
}

// TestErrorCodes holds every error code that the code compares with, and every one that the stage answers,
// against the models of the
// services that list theirs. EC2's model lists none, nor do the errors that all services have:
// those stand in documentedCodes.
func TestErrorCodes(t *testing.T) {
	all, err := readModels()
	if err != nil {
		t.Fatal(err)
	}
	used, enumerated, pages := map[string]bool{}, statusCodes(), documentedCodes()
	hold := func(path, code string) {
		used[code] = true
		modeled := slices.Contains(enumerated, code)
		for _, m := range all {
			modeled = modeled || slices.Contains(m.errors, code)
		}
		if pages[code] == "" && !modeled {
			t.Errorf("%s: no model and no page has the error code %q", path, code)
		}
	}
	for _, s := range sources(t, "shared", "functions", "infra", "command/caller", "command/doctor", "command/capture", "command/replay", "command/incidents") {
		if strings.Contains(s.path, "slack") || strings.Contains(s.path, "/notify/") { // Slack's API has its own
			continue
		}
		matched(s.file, func(code string) { hold(s.path, code) })
	}
	for _, s := range sources(t, "stage/simaws", "command/capture") {
		answered(s.file, func(code string) { hold(s.path, code) })
	}
	for code := range pages {
		if !used[code] {
			t.Errorf("%s is compared with nowhere", code)
		}
	}
}

// statusCodes are the other codes that AWS has: of scaling activities, of the health of
// clusters, nodegroups and add-ons, of updates and of EC2's scheduled events; and the errors
// that the SDK tries again, of whatever service.
func statusCodes() []string {
	var list []string
	for _, v := range (astypes.ScalingActivityStatusCode)("").Values() {
		list = append(list, string(v))
	}
	for _, v := range (ekstypes.NodegroupIssueCode)("").Values() {
		list = append(list, string(v))
	}
	for _, v := range (ekstypes.AddonIssueCode)("").Values() {
		list = append(list, string(v))
	}
	for _, v := range (ekstypes.ErrorCode)("").Values() {
		list = append(list, string(v))
	}
	for _, v := range (ekstypes.ClusterIssueCode)("").Values() {
		list = append(list, string(v))
	}
	list = slices.AppendSeq(list, maps.Keys(retry.DefaultThrottleErrorCodes))
	list = slices.AppendSeq(list, maps.Keys(retry.DefaultRetryableErrorCodes))
	for _, v := range (ec2types.EventCode)("").Values() {
		list = append(list, string(v))
	}
	return list
}

// documentedCodes are the codes that no model has, each with the page that has it.
func documentedCodes() map[string]string {
	const (
		ec2Errors  = "https://docs.aws.amazon.com/ec2/latest/devguide/errors-overview.html"
		common     = "https://docs.aws.amazon.com/STS/latest/APIReference/CommonErrors.html"
		assumeRole = "https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html"
		s3         = "https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html"
		state      = "https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_StateReason.html"
		kubernetes = "https://github.com/kubernetes/apimachinery/blob/master/pkg/apis/meta/v1/types.go"
		putEvents  = "https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEventsResultEntry.html"
		terraform  = "https://github.com/hashicorp/terraform-provider-aws/blob/main/internal/service/ec2/errors.go"
		sdk        = "https://github.com/aws/smithy-go/blob/main/errors.go"
	)
	pages := map[string]string{}
	for page, codes := range map[string][]string{
		ec2Errors: {"AuthFailure", "Blocked", "DryRunOperation", "IncorrectInstanceState", "InvalidLaunchTemplateId.VersionNotFound", "InvalidNetworkInterface.InUse",
			"InvalidNetworkInterfaceID.NotFound", "OptInRequired", "RequestExpired", "UnauthorizedOperation", "Unavailable", "ServiceUnavailable",
			"AttachmentLimitExceeded", "DependencyViolation", "IncorrectState", "InsufficientCidrBlocks", "InsufficientFreeAddressesInSubnet",
			"InsufficientInstanceCapacity", "InvalidAction", "InvalidAMIID.NotFound", "InvalidAttachmentID.NotFound",
			"InvalidDhcpOptionID.NotFound", "InvalidGatewayID.NotFound", "InvalidGroup.NotFound", "InvalidID", "InvalidIPAddress.InUse", "InvalidInstanceID.NotFound", "InvalidInstanceType",
			"InvalidInternetGatewayID.NotFound", "InvalidLaunchTemplateId.NotFound", "InvalidLaunchTemplateName.AlreadyExistsException", "InvalidLaunchTemplateName.NotFoundException",
			"InvalidNatGatewayID.NotFound", "InvalidNetworkAclID.NotFound", "InvalidPermission.Duplicate", "InvalidPermission.NotFound", "InvalidPlacementGroup.Unknown",
			"InvalidRoute.NotFound", "InvalidRouteTableID.NotFound", "InvalidSubnetID.NotFound", "InvalidTargetCapacitySpecification", "InvalidUserData.Malformed", "InvalidVolume.NotFound", "InvalidVolume.ZoneMismatch",
			"InvalidVpcEndpointId.NotFound", "InvalidVpcID.NotFound", "InvalidVpcPeeringConnectionID.NotFound", "MaxSpotInstanceCountExceeded", "NatGatewayNotFound", "Resource.AlreadyAssociated",
			"RouteAlreadyExists", "RulesPerSecurityGroupLimitExceeded", "SpotMaxPriceTooLow", "UnfulfillableCapacity", "Unsupported", "VcpuLimitExceeded", "VolumeInUse"},
		terraform:  {"InvalidCapacityReservationId.NotFound", "InvalidPrefixListID.NotFound", "InvalidTransitGatewayAttachmentID.NotFound", "InvalidTransitGatewayID.NotFound"},
		putEvents:  {"InvalidArgument", "MalformedDetail", "NotAuthorizedForSourceException"},
		common:     {"ValidationError", "IncompleteSignature", "InvalidClientTokenId", "SignatureDoesNotMatch"},
		assumeRole: {"ExpiredToken"},
		s3:         {"BucketAlreadyOwnedByYou", "NoSuchBucket", "NoSuchKey"},
		state:      {"Client.UserInitiatedHibernate", "Server.ScheduledStop"},
		kubernetes: {"404", "Forbidden", "ServerTimeout", "Timeout", "TooManyRequests", "Unauthorized"},
		sdk:        {"UnknownError"},
	} {
		for _, code := range codes {
			pages[code] = page
		}
	}
	return pages
}
