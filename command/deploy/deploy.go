package deploy

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"rollcall/shared/s3"
	"rollcall/shared/slack/hook"
	"rollcall/shared/spoke"
)

// Terminal is where a person reads and answers.
type Terminal struct {
	In  *bufio.Reader
	Out io.Writer
	// Interactive is set where a person is there to answer, Yes where all questions are answered
	// with yes.
	Interactive, Yes bool
	// Password reads a line without echo.
	Password func() (string, error)
}

// Deployment is one run.
type Deployment struct {
	Account, Region string
	Release         Release
	// Template is the file of the release, Stack the stack that is made of it.
	Template, Stack  string
	Parameters, Tags map[string]string
	// Clusters are those in which the rights are applied, ConfigMapClusters those among them that
	// take no access entries.
	Clusters, ConfigMapClusters []string
	// NoSlack is set where Slack is not used, or the secret is not the stack's.
	NoSlack bool

	Bucket s3.Bucket
	// BucketGiven is set where a person named the bucket: one that exists keeps its own policy.
	BucketGiven    bool
	CloudFormation *cloudformation.Client
	Secrets        *secretsmanager.Client
	EKS            *eks.Client
	Functions      *lambda.Client
	// Kubernetes applies an object in a cluster, with the caller's own rights.
	Kubernetes func(ctx context.Context, c Cluster, object Object) error
	// Workspace checks a Slack token, and returns the workspace that it is for.
	Workspace func(ctx context.Context, token string) (string, error)
	// Examine checks the deployment and prints what it finds.
	Examine func(ctx context.Context) error

	Terminal Terminal
	Now      func() time.Time
	Sleep    func(context.Context, time.Duration) error

	template []byte
	objects  map[string][]byte
	outputs  map[string]string
}

// NoTerminalError is that a question has no terminal to be answered at.
type NoTerminalError struct{ What string }

func (n *NoTerminalError) Error() string {
	return n.What + " needs a confirmation, and standard input is not a terminal: run it on a terminal, or add --yes"
}

// ErrDeclined is that a person did not type yes.
var ErrDeclined = errors.New("nothing was changed")

func (d *Deployment) say(format string, args ...any) {
	fmt.Fprintf(d.Terminal.Out, format+"\n", args...)
}

// confirm asks for a yes.
func (t Terminal) confirm(what, question string) error {
	switch {
	case t.Yes:
		return nil
	case !t.Interactive:
		return &NoTerminalError{what}
	}
	fmt.Fprintf(t.Out, "%s Type yes to continue: ", question) // the person ends the line
	line, err := t.In.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the answer: %w", err)
	}
	if strings.TrimSpace(line) != "yes" {
		return ErrDeclined
	}
	return nil
}

// open reads what is the same for all steps.
func (d *Deployment) open() (err error) {
	if d.template, err = d.Release.File(d.Template); err != nil {
		return err
	}
	if d.objects, err = d.Release.objects(d.Template, d.Parameters["CodeKey"]); err != nil {
		return err
	}
	if d.Parameters == nil {
		d.Parameters = map[string]string{}
	}
	var declared struct{ Parameters map[string]any }
	if err := json.Unmarshal(d.template, &declared); err != nil {
		return fmt.Errorf("read the template of the release: %w", err)
	}
	if _, ok := declared.Parameters["CodePrefix"]; ok {
		d.Parameters["CodeBucket"], d.Parameters["CodePrefix"] = d.Bucket.Name, d.Release.Prefix()
	}
	return nil
}

// Run deploys: it looks what is there, does the next step, and looks again.
func (d *Deployment) Run(ctx context.Context) error {
	if !d.Terminal.Interactive && !d.Terminal.Yes {
		return &NoTerminalError{"a deployment"}
	}
	if err := d.open(); err != nil {
		return err
	}
	var done []Kind
	for {
		s, found, err := d.look(ctx, done)
		if err != nil {
			return err
		}
		step := Next(s)
		switch step.Kind {
		case MakeBucket:
			err = d.makeBucket(ctx, s.Bucket)
		case Upload:
			err = d.upload(ctx, s.Missing)
		case Wait:
			d.say("CloudFormation is still working on the stack %s (%s).", d.Stack, s.Status)
			err = d.wait(ctx, aws.ToString(found.StackId))
		case DeleteStack:
			err = d.deleteFailed(ctx, found)
		case Change:
			err = d.change(ctx, found)
		case FillSecret:
			err = d.fillSecret(ctx)
		case GrantAccess:
			err = d.grantAccess(ctx)
		case Stop:
			return d.stop(ctx, step.Reason, found)
		case Examine:
			return d.Examine(ctx)
		}
		if err != nil {
			return err
		}
		done = append(done, step.Kind)
	}
}

// look finds what is there.
func (d *Deployment) look(ctx context.Context, done []Kind) (s State, found *types.Stack, err error) {
	s.Done = done
	if s.Bucket, err = d.Bucket.There(ctx); err != nil {
		return s, nil, fmt.Errorf("read the bucket %s: %w", d.Bucket.Name, err)
	}
	if s.Bucket {
		keys, err := d.Bucket.Keys(ctx, "rollcall/")
		if err != nil {
			return s, nil, fmt.Errorf("list the bucket %s: %w", d.Bucket.Name, err)
		}
		for _, key := range slices.Sorted(maps.Keys(d.objects)) {
			if !slices.Contains(keys, key) {
				s.Missing = append(s.Missing, key)
			}
		}
	}
	if found, err = d.stack(ctx, d.Stack); err != nil || found == nil {
		return s, nil, err
	}
	s.Status = found.StackStatus
	d.outputs = map[string]string{}
	for _, o := range found.Outputs {
		d.outputs[aws.ToString(o.OutputKey)] = aws.ToString(o.OutputValue)
	}
	if s.Current, err = d.current(ctx, found); err != nil {
		return s, nil, err
	}
	if s.Current && !d.NoSlack {
		s.SecretEmpty = d.secretEmpty(ctx)
	}
	return s, found, nil
}

// policy lets nothing reach the bucket without TLS (S3 user guide, "Security best practices",
// aws:SecureTransport).
func policy(partition, bucket string) []byte {
	arn := "arn:" + partition + ":s3:::" + bucket
	text, err := json.Marshal(map[string]any{"Version": "2012-10-17", "Statement": []any{map[string]any{
		"Sid": "TLSOnly", "Effect": "Deny", "Principal": "*", "Action": "s3:*", "Resource": []string{arn, arn + "/*"},
		"Condition": map[string]any{"Bool": map[string]string{"aws:SecureTransport": "false"}},
	}}})
	if err != nil {
		return nil // texts
	}
	return text
}

const publicAccess = `<PublicAccessBlockConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><BlockPublicAcls>true</BlockPublicAcls><IgnorePublicAcls>true</IgnorePublicAcls><BlockPublicPolicy>true</BlockPublicPolicy><RestrictPublicBuckets>true</RestrictPublicBuckets></PublicAccessBlockConfiguration>`

// makeBucket makes the bucket, private and by TLS only. One that was named and is there stays as
// it is.
func (d *Deployment) makeBucket(ctx context.Context, there bool) error {
	if !there {
		d.say("Creating the bucket %s.", d.Bucket.Name)
		if err := d.Bucket.Make(ctx); err != nil {
			if coded(err, "BucketAlreadyExists") {
				return fmt.Errorf("the bucket %s is another account's: name one of yours with --bucket", d.Bucket.Name)
			}
			return fmt.Errorf("create the bucket %s: %w", d.Bucket.Name, err)
		}
	}
	if there && d.BucketGiven {
		return nil // its policy may let others in who need it, and is not Rollcall's to replace
	}
	for _, c := range []struct {
		operation, what string
		document        []byte
	}{
		{"PutPublicAccessBlock", "publicAccessBlock", []byte(publicAccess)},
		{"PutBucketPolicy", "policy", policy(spoke.Partition(d.Region), d.Bucket.Name)},
	} {
		if err := d.Bucket.Configure(ctx, c.operation, c.what, c.document); err != nil {
			return fmt.Errorf("make the bucket %s private: %w", d.Bucket.Name, err)
		}
	}
	return nil
}

// upload uploads what is missing of the release.
func (d *Deployment) upload(ctx context.Context, missing []string) error {
	for i, key := range missing {
		body := d.objects[key]
		d.say("Uploading %d/%d: s3://%s/%s (%.1f MB)", i+1, len(missing), d.Bucket.Name, key, float64(len(body))/1e6)
		kind := "application/zip"
		if strings.HasSuffix(key, ".json") {
			kind = "application/json"
		}
		if err := d.Bucket.Put(ctx, key, kind, body); err != nil {
			return fmt.Errorf("upload s3://%s/%s: %w", d.Bucket.Name, key, err)
		}
	}
	return nil
}

// deleteFailed offers to delete a stack that takes no update.
func (d *Deployment) deleteFailed(ctx context.Context, s *types.Stack) error {
	d.say("The stack %s is in %s: its creation failed, and CloudFormation cannot update such a stack. It must be deleted first.", d.Stack, s.StackStatus)
	if list, err := d.events(ctx, aws.ToString(s.StackId), nil); err == nil {
		fmt.Fprint(d.Terminal.Out, failureText(failures(list)))
	}
	if err := d.Terminal.confirm("deleting the failed stack", "Delete it?"); err != nil {
		return err
	}
	return d.delete(ctx, s)
}

func (d *Deployment) delete(ctx context.Context, s *types.Stack) error {
	if _, err := d.CloudFormation.DeleteStack(ctx, &cloudformation.DeleteStackInput{StackName: s.StackId}); err != nil {
		return fmt.Errorf("delete the stack %s: %w", d.Stack, err)
	}
	return d.wait(ctx, aws.ToString(s.StackId))
}

// change shows a change set and executes it.
func (d *Deployment) change(ctx context.Context, s *types.Stack) error {
	id, changes, err := d.changeSet(ctx, s)
	if errors.Is(err, errNoChanges) {
		d.say("The stack %s needs no change.", d.Stack)
		return nil
	}
	if err != nil {
		return err
	}
	d.say("Changes to the stack %s in account %s, %s:", d.Stack, d.Account, d.Region)
	fmt.Fprint(d.Terminal.Out, changeTable(changes))
	if err := d.Terminal.confirm("changing the stack", "Deploy these changes?"); err != nil {
		d.dropChangeSet(ctx, id)
		return err
	}
	if _, err := d.CloudFormation.ExecuteChangeSet(ctx, &cloudformation.ExecuteChangeSetInput{ChangeSetName: &id, StackName: &d.Stack}); err != nil {
		return fmt.Errorf("execute the change set: %w", err)
	}
	now, err := d.stack(ctx, d.Stack)
	if err != nil || now == nil {
		return err
	}
	return d.wait(ctx, aws.ToString(now.StackId))
}

// Diff shows what a deployment would change, and leaves no change set.
func (d *Deployment) Diff(ctx context.Context) error {
	if err := d.open(); err != nil {
		return err
	}
	s, found, err := d.look(ctx, []Kind{MakeBucket})
	if err != nil {
		return err
	}
	switch {
	case inProgress(s.Status):
		return fmt.Errorf("CloudFormation is still working on the stack %s (%s): try again when it is done", d.Stack, s.Status)
	case s.Current:
		d.say("The stack %s needs no change.", d.Stack)
		return nil
	case !s.Bucket:
		if err := d.makeBucket(ctx, false); err != nil {
			return err
		}
	}
	// A change set reads the template alone.
	if err := d.upload(ctx, slices.DeleteFunc(s.Missing, func(key string) bool { return !strings.HasSuffix(key, ".json") })); err != nil {
		return err
	}
	if !s.Bucket {
		if err := d.upload(ctx, []string{templateKey(d.Template, d.template)}); err != nil {
			return err
		}
	}
	id, changes, err := d.changeSet(ctx, found)
	if errors.Is(err, errNoChanges) {
		d.say("The stack %s needs no change.", d.Stack)
		return nil
	}
	if err != nil {
		return err
	}
	d.say("A deployment would change the stack %s in account %s, %s:", d.Stack, d.Account, d.Region)
	fmt.Fprint(d.Terminal.Out, changeTable(changes))
	d.dropChangeSet(ctx, id)
	if now, err := d.stack(ctx, d.Stack); found == nil && err == nil && now != nil && now.StackStatus == types.StackStatusReviewInProgress {
		// The change set made an empty stack, which was not asked for.
		_, _ = d.CloudFormation.DeleteStack(ctx, &cloudformation.DeleteStackInput{StackName: now.StackId})
	}
	return nil
}

// stop says what a person has to do first.
func (d *Deployment) stop(ctx context.Context, why Reason, s *types.Stack) error {
	list, err := d.events(ctx, aws.ToString(s.StackId), nil)
	if err != nil {
		return err
	}
	failed := &FailedError{d.Stack, s.StackStatus, failures(list)}
	if why == RollbackFailed {
		return fmt.Errorf("%w\nThen let CloudFormation finish the rollback: aws cloudformation continue-update-rollback --region %s --stack-name %s", failed, d.Region, d.Stack)
	}
	return fmt.Errorf("%w\nThen delete it: rollcall deploy destroy --stack-name %s", failed, d.Stack)
}

// secretEmpty reports whether the stack's secret holds no token. What cannot be read is not empty:
// the check at the end says so.
func (d *Deployment) secretEmpty(ctx context.Context) bool {
	arn := d.outputs["SlackSecretArn"]
	if arn == "" {
		return false
	}
	_, err := hook.Token(ctx, d.Secrets, arn)
	return errors.Is(err, hook.ErrNoToken) || errors.Is(err, hook.ErrNotToken)
}

// fillSecret asks for the token of the Slack app and stores it.
func (d *Deployment) fillSecret(ctx context.Context) error {
	if !d.Terminal.Interactive || d.Terminal.Password == nil {
		d.say("The secret of the Slack token is empty. Store it: %s", d.outputs["SlackSecretCommand"])
		return nil
	}
	for {
		fmt.Fprint(d.Terminal.Out, "Slack bot token (xoxb-…, not shown; empty to do it later): ")
		token, err := d.Terminal.Password()
		fmt.Fprintln(d.Terminal.Out)
		if err != nil {
			return fmt.Errorf("read the token: %w", err)
		}
		if token = strings.TrimSpace(token); token == "" {
			d.say("Store it later: %s", d.outputs["SlackSecretCommand"])
			return nil
		}
		workspace, err := d.Workspace(ctx, token)
		if err != nil {
			d.say("Slack does not accept it: %s", err)
			continue
		}
		if _, err := d.Secrets.PutSecretValue(ctx, &secretsmanager.PutSecretValueInput{SecretId: aws.String(d.outputs["SlackSecretArn"]), SecretString: &token}); err != nil {
			return fmt.Errorf("store the Slack token: %w", err)
		}
		d.say("Stored the token for workspace %s.", workspace)
		return nil
	}
}

// stays are what a deleted stack leaves (DeletionPolicy of the template), and what was never in it.
const stays = `What stays, until you delete it:
  the table with launches and incidents
  the secrets of the Slack token and signing secret
  the bucket with evidence
  the ClusterRole and its binding in each cluster, and access entries made by hand
  the bucket %s with the release's packages
`

// Destroy deletes the stack, and says what stays.
func (d *Deployment) Destroy(ctx context.Context) error {
	s, err := d.stack(ctx, d.Stack)
	if err != nil {
		return err
	}
	if s == nil {
		d.say("There is no stack %s in account %s, %s.", d.Stack, d.Account, d.Region)
		return nil
	}
	d.say("This deletes the stack %s (%s) in account %s, %s: Rollcall no longer watches or posts.", d.Stack, s.StackStatus, d.Account, d.Region)
	fmt.Fprintf(d.Terminal.Out, stays, d.Bucket.Name)
	if err := d.Terminal.confirm("deleting the stack", "Delete it?"); err != nil {
		return err
	}
	if aws.ToBool(s.EnableTerminationProtection) {
		return fmt.Errorf("the stack %s is protected from deletion: aws cloudformation update-termination-protection --region %s --stack-name %s --no-enable-termination-protection", d.Stack, d.Region, d.Stack)
	}
	if inProgress(s.StackStatus) {
		var failed *FailedError // whatever it was, it is deleted now
		if err := d.wait(ctx, aws.ToString(s.StackId)); err != nil && !errors.As(err, &failed) {
			return err
		}
		if s, err = d.stack(ctx, d.Stack); err != nil {
			return err
		}
	}
	if s != nil {
		if err := d.delete(ctx, s); err != nil {
			return err
		}
	}
	d.say("Deleted the stack %s.", d.Stack)
	return nil
}
