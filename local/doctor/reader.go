package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"rollcall/shared/config"
)

// reader is a role that clusters let in, and the functions that read as it.
type reader struct {
	name, role string
	functions  []functionOf
	// made is when the role was made; zero where it could not be read.
	made time.Time
}

// readersOf is the one role that reads in clusters, or each function's own where a deployment
// has none.
func readersOf(there []functionOf) []reader {
	var list []reader
	for _, f := range there {
		if len(f.spec.Kube) == 0 {
			continue
		}
		r := reader{name: Prefix + "-" + f.spec.Name, role: f.role}
		if role := f.setting(config.ReaderRole); role != "" {
			r.name, r.role = role[strings.LastIndex(role, "/")+1:], role
		}
		i := slices.IndexFunc(list, func(o reader) bool { return o.role == r.role })
		if i < 0 {
			i, list = len(list), append(list, r)
		}
		list[i].functions = append(list[i].functions, f)
	}
	return list
}

// assumed looks whether a role that functions assume is there, and lets them. It notes when
// the role was made.
func (c Clients) assumed(ctx context.Context, r *reader) []Finding {
	if r.role == r.functions[0].role {
		return nil // looked at with its function
	}
	out, err := c.Roles.GetRole(ctx, &iam.GetRoleInput{RoleName: aws.String(r.name)})
	if err == nil {
		r.made = aws.ToTime(out.Role.CreateDate)
	}
	switch {
	case coded(err, "NoSuchEntity"):
		return []Finding{redeploy(Finding{Part: "role", Name: r.name, Says: "is not there: no cluster that lets it in can be read"})}
	case err != nil:
		return []Finding{unseen("role", r.name, "iam:GetRole", err)}
	}
	trusted, err := trustedBy(aws.ToString(out.Role.AssumeRolePolicyDocument))
	if err != nil {
		return []Finding{{Part: "role", Name: r.name, State: Unknown, Says: "its trust policy could not be read: " + err.Error()}}
	}
	var refused []string
	for _, f := range r.functions {
		if !slices.Contains(trusted, f.role) {
			refused = append(refused, Prefix+"-"+f.spec.Name)
		}
	}
	if len(refused) > 0 {
		return []Finding{redeploy(Finding{Part: "role", Name: r.name, Says: "does not let " + strings.Join(refused, ", ") + " assume it"})}
	}
	return []Finding{{Part: "role", Name: r.name, State: Well, Says: "is assumed by the functions that read in clusters"}}
}

// trustedBy are the roles that a trust policy names. IAM gives the document encoded for
// a URL (IAM API reference, GetRole).
func trustedBy(document string) ([]string, error) {
	text, err := url.QueryUnescape(document)
	if err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	var policy struct {
		Statement []struct {
			Effect    string
			Principal struct{ AWS json.RawMessage }
		}
	}
	if err := json.Unmarshal([]byte(text), &policy); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	var list []string
	for _, s := range policy.Statement {
		var one string
		var several []string
		if json.Unmarshal(s.Principal.AWS, &one) == nil {
			several = []string{one}
		} else if err := json.Unmarshal(s.Principal.AWS, &several); err != nil {
			return nil, fmt.Errorf("decode the principals: %w", err)
		}
		if s.Effect == "Allow" {
			list = append(list, several...)
		}
	}
	return list, nil
}
