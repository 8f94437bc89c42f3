package stage

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/eks"

	"rollcall/shared/spoke"
	"rollcall/stage/platform/template"
	"rollcall/stage/simaws"
	"rollcall/stage/simaws/cloudformation"
	"rollcall/stage/simaws/s3"
	"rollcall/stage/simaws/world"
)

// nothing is what an account has in which Rollcall is not deployed.
func nothing(account, region string) *template.Template {
	return &template.Template{AccountID: account, Region: region, StackName: "Rollcall", Outputs: map[string]string{}}
}

// place is an account and region in which stacks are made: the hub's, or a spoke's.
type place struct {
	spoke.ID
	world   world.API
	buckets *s3.Server
	// deployed runs a stack that is no relay's, deleted ends it; left is what its deletion leaves.
	deployed func(*template.Template) error
	deleted  func(t *template.Template, left []template.Resource)
}

// stacks is CloudFormation in a place, on a stage that began empty; else nil: what such a stage
// runs is deployed without it.
func (s *Stage) stacks(p place) any {
	if !s.options.Empty {
		return nil
	}
	// Who called CloudFormation waits while a stack is run or ended.
	read := func(x cloudformation.Stack) (*template.Template, error) {
		return template.Parse(x.Source, template.Options{AccountID: p.Account, Region: p.Region, StackName: x.Name, Parameters: x.Parameters})
	}
	return cloudformation.New(cloudformation.Config{
		Account: p.Account, Region: p.Region, Now: s.now, Pace: s.options.Pace,
		Object: func(bucket, key string) ([]byte, bool) {
			body := p.buckets.Object(bucket, key)
			return body, body != nil
		},
		Create: func(r template.Resource) error {
			if s.options.Refuse != nil {
				if err := s.options.Refuse(r); err != nil {
					return err
				}
			}
			if r.Type == "AWS::EKS::AccessEntry" {
				return makeEntry(p.world, r)
			}
			return nil
		},
		Delete: func(r template.Resource) error {
			name, _ := r.Properties["ClusterName"].(string)
			switch {
			case r.Type == "AWS::S3::Bucket" && len(p.buckets.Keys(r.PhysicalID)) > 0:
				// S3 API reference, DeleteBucket, "Errors".
				return fmt.Errorf("%s (Service: S3, Status Code: 409)", "The bucket you tried to delete is not empty")
			case r.Type == "AWS::EKS::AccessEntry":
				principal, _ := r.Properties["PrincipalArn"].(string)
				_, err := p.world.DeleteAccessEntry(&eks.DeleteAccessEntryInput{ClusterName: &name, PrincipalArn: &principal})
				return err
			}
			return nil
		},
		Output: s.withSecrets,
		Deployed: func(x cloudformation.Stack) error {
			t, err := read(x)
			switch {
			case err != nil:
			case isRelay(t):
				err = s.runRelay(p.ID, t)
			default:
				err = p.deployed(t)
			}
			if err != nil {
				s.log.Error("run a stack", "stack", x.Name, "error", err)
			}
			return err
		},
		Deleted: func(x cloudformation.Stack, left []template.Resource) {
			t, err := read(x)
			switch {
			case err != nil: // it never ran
			case isRelay(t):
				s.endRelay(p.ID, t)
			default:
				p.deleted(t, left)
			}
		},
	})
}

// withSecrets puts the ARNs of the stack's secrets into a text: they end in six characters that
// Secrets Manager chooses.
func (s *Stage) withSecrets(text string) string {
	for _, secret := range s.Template.Secrets {
		text = strings.ReplaceAll(text, secret.ARN, simaws.SecretARN(s.Template.Region, s.Template.AccountID, secret.Name))
	}
	return text
}

// makeEntry makes the access entry of a stack, as EKS does or refuses it.
func makeEntry(w world.API, r template.Resource) error {
	text := func(name string) *string {
		v, _ := r.Properties[name].(string)
		return &v
	}
	in := &eks.CreateAccessEntryInput{ClusterName: text("ClusterName"), PrincipalArn: text("PrincipalArn"), Tags: map[string]string{}}
	groups, _ := r.Properties["KubernetesGroups"].([]any)
	for _, g := range groups {
		in.KubernetesGroups = append(in.KubernetesGroups, fmt.Sprint(g))
	}
	tags, _ := r.Properties["Tags"].([]any)
	for _, t := range tags {
		if pair, ok := t.(map[string]any); ok {
			in.Tags[fmt.Sprint(pair["Key"])] = fmt.Sprint(pair["Value"])
		}
	}
	_, err := w.CreateAccessEntry(in)
	return err
}

// isHub reports whether a template is a hub's: spokes and relays have no queue of results.
func isHub(t *template.Template) bool {
	return slices.ContainsFunc(t.Functions, func(f template.Function) bool { return Folder(f) == "report" })
}

// isRelay reports whether a template is a relay's, which has one function. A spoke's has none.
func isRelay(t *template.Template) bool { return len(t.Functions) == 1 && !isHub(t) }

// deployed runs the hub's stack, which CloudFormation has created or updated.
func (s *Stage) deployed(set set, t *template.Template) error {
	if !isHub(t) {
		return nil // a spoke in the hub's own account and region watches nothing more
	}
	for _, table := range t.Tables {
		if slices.ContainsFunc(s.Template.Tables, func(o template.Table) bool { return o.Name == table.Name }) {
			continue
		}
		if _, err := s.Table.Client().CreateTable(s.ctx, createTable(table)); err != nil {
			return fmt.Errorf("create table %s: %w", table.Name, err)
		}
	}
	for _, q := range t.Queues {
		if slices.ContainsFunc(s.Template.Queues, func(o template.Queue) bool { return o.Name == q.Name }) {
			continue
		}
		if err := s.Queues.Add(queueConfig(q)); err != nil {
			return fmt.Errorf("queue %s: %w", q.Name, err)
		}
	}
	for _, secret := range t.Secrets {
		if _, there := s.Cloud.Secret(secret.Name); !there {
			s.Cloud.SetSecret(secret.Name, "")
		}
	}
	for _, b := range t.S3Buckets {
		s.S3.Add(b)
	}
	for _, f := range t.Functions {
		s.Cloud.Admit(simaws.RoleIdentity(set.account, f.Name))
	}
	s.Template = t
	s.Deployment.Replace(t, s.Clock.Now())
	for _, x := range s.spokes { // some may have been deployed before the functions that they trust
		x.deployment.Replace(s.asIAMTells(x.template), s.Clock.Now())
	}
	if err := s.addFunctions(); err != nil {
		return err
	}
	if s.unroute != nil {
		s.unroute()
	}
	ctx, cancel := context.WithCancel(s.ctx)
	s.unroute = cancel
	_, err := s.route(ctx, set.faults, set.start)
	return err
}

// deleted ends what the hub's stack ran. What its deletion leaves is there.
func (s *Stage) deleted(gone *template.Template, left []template.Resource) {
	if gone.StackName != s.Template.StackName {
		return
	}
	if s.unroute != nil {
		s.unroute()
	}
	kept := func(id string) bool {
		return slices.ContainsFunc(left, func(r template.Resource) bool { return r.LogicalID == id })
	}
	t := nothing(s.Template.AccountID, s.Template.Region)
	for _, table := range s.Template.Tables {
		if kept(table.LogicalID) {
			t.Tables = append(t.Tables, table)
		}
	}
	for _, secret := range s.Template.Secrets {
		if kept(secret.LogicalID) {
			t.Secrets = append(t.Secrets, secret)
		} else {
			s.Cloud.RemoveSecret(secret.Name)
		}
	}
	s.Template = t
	s.Deployment.Replace(t, s.Clock.Now())
	s.mu.Lock()
	s.Router = nil
	s.mu.Unlock()
}
