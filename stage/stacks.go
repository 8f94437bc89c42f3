package stage

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/eks"

	"rollcall/stage/platform/template"
	"rollcall/stage/simaws"
	"rollcall/stage/simaws/cloudformation"
	"rollcall/stage/simaws/world"
)

// nothing is what an account has in which Rollcall is not deployed.
func nothing(account, region string) *template.Template {
	return &template.Template{AccountID: account, Region: region, StackName: "Rollcall", Outputs: map[string]string{}}
}

// stacks is CloudFormation, on a stage that began empty; else nil: what such a stage runs is
// deployed without it.
func (s *Stage) stacks(set set) any {
	if !s.options.Empty {
		return nil
	}
	w, _ := set.api.(world.API)
	return cloudformation.New(cloudformation.Config{
		Account: set.account, Region: set.region, Now: s.now, Pace: s.options.Pace,
		Object: func(bucket, key string) ([]byte, bool) {
			body := s.S3.Object(bucket, key)
			return body, body != nil
		},
		Create: func(r template.Resource) error {
			if s.options.Refuse != nil {
				if err := s.options.Refuse(r); err != nil {
					return err
				}
			}
			if r.Type == "AWS::EKS::AccessEntry" {
				return makeEntry(w, r)
			}
			return nil
		},
		Delete: func(r template.Resource) error {
			name, _ := r.Properties["ClusterName"].(string)
			switch {
			case r.Type == "AWS::S3::Bucket" && len(s.S3.Keys(r.PhysicalID)) > 0:
				// S3 API reference, DeleteBucket, "Errors".
				return fmt.Errorf("%s (Service: S3, Status Code: 409)", "The bucket you tried to delete is not empty")
			case r.Type == "AWS::EKS::AccessEntry":
				principal, _ := r.Properties["PrincipalArn"].(string)
				_, err := w.DeleteAccessEntry(&eks.DeleteAccessEntryInput{ClusterName: &name, PrincipalArn: &principal})
				return err
			}
			return nil
		},
		Output: s.withSecrets,
		Deployed: func(x cloudformation.Stack) error {
			err := s.deployed(set, x)
			if err != nil {
				s.log.Error("run a stack", "stack", x.Name, "error", err)
			}
			return err
		},
		Deleted: s.deleted,
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

// hub reports whether a template is the hub's: spokes and relays have no queue of results.
func hub(t *template.Template) bool {
	return slices.ContainsFunc(t.Functions, func(f template.Function) bool { return Folder(f) == "report" })
}

// deployed runs a stack that CloudFormation has created or updated. Who called CloudFormation
// waits meanwhile, and nothing else of the stack is there yet or changes.
func (s *Stage) deployed(set set, x cloudformation.Stack) error {
	t, err := template.Parse(x.Source, template.Options{AccountID: set.account, Region: set.region, StackName: x.Name, Parameters: x.Parameters})
	if err != nil || !hub(t) {
		return err
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
	if err := s.addFunctions(); err != nil {
		return err
	}
	if s.unroute != nil {
		s.unroute()
	}
	ctx, cancel := context.WithCancel(s.ctx)
	s.unroute = cancel
	_, err = s.route(ctx, set.faults, set.start)
	return err
}

// deleted ends what a stack ran. What its deletion leaves is there.
func (s *Stage) deleted(x cloudformation.Stack, left []template.Resource) {
	if x.Name != s.Template.StackName {
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
