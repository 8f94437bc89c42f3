package cloudformation

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"rollcall/stage/platform/template"
	"rollcall/stage/platform/wire"
	"rollcall/tools/expect"
)

const small = `{"Parameters":{"CodeBucket":{"Type":"String"},"CodePrefix":{"Type":"String","Default":""},"JoinTime":{"Type":"String","Default":"4m"}},"Resources":{
"Table":{"Type":"AWS::DynamoDB::Table","DeletionPolicy":"Retain","Properties":{"TableName":"rollcall","KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],"BillingMode":"PAY_PER_REQUEST"}},
"Role":{"Type":"AWS::IAM::Role","Properties":{"RoleName":"rollcall-report","AssumeRolePolicyDocument":{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"Service":"lambda.amazonaws.com"}}]}}},
"Bucket":{"Type":"AWS::S3::Bucket","Properties":{"BucketName":"plain"}},
"Report":{"Type":"AWS::Lambda::Function","Metadata":{"Rollcall::Folder":"functions/report"},"Properties":{"FunctionName":"rollcall-report","Handler":"bootstrap","Runtime":"provided.al2023","Role":{"Fn::GetAtt":["Role","Arn"]},
 "Code":{"S3Bucket":{"Ref":"CodeBucket"},"S3Key":{"Fn::Sub":"${CodePrefix}report.zip"}},"Environment":{"Variables":{"ROLLCALL_JOIN_TIME":{"Ref":"JoinTime"},"ROLLCALL_TABLE":{"Ref":"Table"}}}}}}}`

// account is an account whose time a test moves.
type account struct {
	*API
	now     time.Time
	objects map[string]string
	refuse  map[string]error
	full    bool
	stacks  []string
}

func newAccount() *account {
	a := &account{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), objects: map[string]string{"code/1/report.zip": "zip", "code/t.json": small}, refuse: map[string]error{}}
	a.API = New(Config{
		Account: "111122223333", Region: "us-west-2", Now: func() time.Time { return a.now }, Pace: time.Second,
		Object: func(bucket, key string) ([]byte, bool) { v, ok := a.objects[bucket+"/"+key]; return []byte(v), ok },
		Create: func(r template.Resource) error { return a.refuse[r.LogicalID] },
		Delete: func(r template.Resource) error {
			if r.Type == "AWS::S3::Bucket" && a.full {
				return errors.New("The bucket you tried to delete is not empty")
			}
			return nil
		},
		Deployed: func(s Stack) error { a.stacks = append(a.stacks, s.Name+" "+s.Parameters["JoinTime"]); return nil },
	})
	return a
}

func (a *account) wait() { a.now = a.now.Add(time.Hour) }

func (a *account) change(kind types.ChangeSetType, parameters ...string) error {
	in := &cloudformation.CreateChangeSetInput{
		StackName: aws.String("Rollcall"), ChangeSetName: aws.String(fmt.Sprintf("c%d", a.now.Unix())), ChangeSetType: kind, TemplateBody: aws.String(small),
		Capabilities: []types.Capability{types.CapabilityCapabilityNamedIam},
	}
	for _, p := range append(parameters, "CodeBucket=code") {
		key, value, _ := strings.Cut(p, "=")
		in.Parameters = append(in.Parameters, types.Parameter{ParameterKey: &key, ParameterValue: &value})
	}
	made, err := a.CreateChangeSet(in)
	if err != nil {
		return err
	}
	a.wait()
	told, err := a.DescribeChangeSet(&cloudformation.DescribeChangeSetInput{ChangeSetName: made.Id})
	if err != nil {
		return err
	}
	if told.Status != types.ChangeSetStatusCreateComplete {
		return errors.New(aws.ToString(told.StatusReason))
	}
	if _, err = a.ExecuteChangeSet(&cloudformation.ExecuteChangeSetInput{ChangeSetName: made.Id}); err != nil {
		return err
	}
	a.wait()
	return nil
}

// status is a stack's state with what failed in it.
func (a *account) status(t *testing.T) string {
	t.Helper()
	out, err := a.DescribeStacks(&cloudformation.DescribeStacksInput{StackName: aws.String("Rollcall")})
	if err != nil {
		return err.Error()
	}
	list := []string{string(out.Stacks[0].StackStatus)}
	events, err := a.DescribeStackEvents(&cloudformation.DescribeStackEventsInput{StackName: aws.String("Rollcall")})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range slices.Backward(events.StackEvents) {
		if strings.HasSuffix(string(e.ResourceStatus), "_FAILED") || e.ResourceStatus == types.ResourceStatusDeleteSkipped {
			list = append(list, *e.LogicalResourceId+" "+string(e.ResourceStatus)+" "+aws.ToString(e.ResourceStatusReason))
		}
	}
	return strings.Join(list, "\n")
}

func coded(err error) string {
	var refused *wire.Error
	if errors.As(err, &refused) {
		return refused.Code + ": " + refused.Message
	}
	return fmt.Sprint(err)
}

func TestCreateUpdateDelete(t *testing.T) {
	a := newAccount()
	expect.Equal(t, "update of none", coded(a.change(types.ChangeSetTypeUpdate)), "ValidationError: Stack [Rollcall] does not exist")
	expect.Equal(t, "create", a.change(types.ChangeSetTypeCreate, "CodePrefix=1/"), nil)
	expect.Equal(t, "created", a.status(t), "CREATE_COMPLETE")
	a.wait()
	expect.Equal(t, "again", coded(a.change(types.ChangeSetTypeCreate, "CodePrefix=1/")), fmt.Sprintf("ValidationError: Stack [Rollcall] already exists and cannot be created again with the changeSet [c%d].", a.now.Unix()))
	expect.Equal(t, "no change", coded(a.change(types.ChangeSetTypeUpdate, "CodePrefix=1/")), noChanges)
	expect.Equal(t, "update", a.change(types.ChangeSetTypeUpdate, "CodePrefix=1/", "JoinTime=5m"), nil)
	expect.Equal(t, "updated", a.status(t), "UPDATE_COMPLETE")
	expect.Equal(t, "code missing", a.change(types.ChangeSetTypeUpdate, "CodePrefix=2/", "JoinTime=5m"), nil)
	if s := a.status(t); !strings.HasPrefix(s, "UPDATE_ROLLBACK_COMPLETE\nReport UPDATE_FAILED Resource handler returned message: \"Error occurred while GetObject. S3 Error Code: NoSuchKey.") {
		t.Error(s)
	}
	expect.Equal(t, "deployed", strings.Join(a.stacks, ", "), "Rollcall , Rollcall 5m")
	a.full = true
	if _, err := a.DeleteStack(&cloudformation.DeleteStackInput{StackName: aws.String("Rollcall")}); err != nil {
		t.Fatal(err)
	}
	a.wait()
	if s := a.status(t); !strings.HasPrefix(s, "DELETE_FAILED") || !strings.Contains(s, "Bucket DELETE_FAILED") {
		t.Error(s)
	}
	a.full = false
	if _, err := a.DeleteStack(&cloudformation.DeleteStackInput{StackName: aws.String("Rollcall")}); err != nil {
		t.Fatal(err)
	}
	a.wait()
	expect.Equal(t, "deleted", a.status(t), "ValidationError: Stack with id Rollcall does not exist")
	// The table stayed, and its name is taken.
	expect.Equal(t, "create again", a.change(types.ChangeSetTypeCreate, "CodePrefix=1/"), nil)
	if s := a.status(t); !strings.HasPrefix(s, "ROLLBACK_COMPLETE\nTable CREATE_FAILED Resource handler returned message: \"Resource of type 'AWS::DynamoDB::Table' with identifier 'rollcall' already exists.\"") {
		t.Error(s)
	}
	if err := coded(a.change(types.ChangeSetTypeUpdate, "CodePrefix=1/")); !strings.HasSuffix(err, "is in ROLLBACK_COMPLETE state and can not be updated.") {
		t.Error(err)
	}
}

func TestRollback(t *testing.T) {
	a := newAccount()
	a.refuse["Role"] = &wire.Error{Code: "AccessDenied", Message: "User is not authorized to perform: iam:CreateRole with an explicit deny in a service control policy"}
	expect.Equal(t, "create", a.change(types.ChangeSetTypeCreate, "CodePrefix=1/"), nil)
	expect.Equal(t, "rolled back", a.status(t), `ROLLBACK_COMPLETE
Role CREATE_FAILED Resource handler returned message: "User is not authorized to perform: iam:CreateRole with an explicit deny in a service control policy" (RequestToken: 00000000-0000-4000-8000-000000000000, HandlerErrorCode: AccessDenied)
Table CREATE_FAILED Resource creation cancelled`)
}

func TestRefusals(t *testing.T) {
	a := newAccount()
	in := &cloudformation.CreateChangeSetInput{
		StackName: aws.String("Rollcall"), ChangeSetName: aws.String("one"), ChangeSetType: types.ChangeSetTypeCreate, TemplateURL: aws.String("https://code.s3.us-west-2.amazonaws.com/t.json"),
		Parameters: []types.Parameter{{ParameterKey: aws.String("CodeBucket"), ParameterValue: aws.String("code")}},
	}
	_, err := a.CreateChangeSet(in)
	expect.Equal(t, "capabilities", coded(err), "InsufficientCapabilitiesException: Requires capabilities : [CAPABILITY_NAMED_IAM]")
	in.Capabilities = []types.Capability{types.CapabilityCapabilityNamedIam}
	if _, err = a.CreateChangeSet(in); err != nil {
		t.Fatal(err)
	}
	_, err = a.CreateChangeSet(in)
	expect.Equal(t, "twice", coded(err), "AlreadyExistsException: ChangeSet one already exists")
	expect.Equal(t, "in review", a.status(t), "REVIEW_IN_PROGRESS")
	_, err = a.ExecuteChangeSet(&cloudformation.ExecuteChangeSetInput{StackName: aws.String("Rollcall"), ChangeSetName: aws.String("one")})
	expect.Equal(t, "not ready", strings.HasPrefix(coded(err), "InvalidChangeSetStatus: "), true)
	in.TemplateURL, in.ChangeSetName = aws.String("https://code.s3.us-west-2.amazonaws.com/none.json"), aws.String("two")
	_, err = a.CreateChangeSet(in)
	expect.Equal(t, "no template", coded(err), "ValidationError: S3 error: The specified key does not exist.")
	_, err = a.DescribeChangeSet(&cloudformation.DescribeChangeSetInput{StackName: aws.String("Rollcall"), ChangeSetName: aws.String("three")})
	expect.Equal(t, "no change set", coded(err), "ChangeSetNotFound: ChangeSet [three] does not exist")
}

// TestEventsInPages: the newest first, in pages.
func TestEventsInPages(t *testing.T) {
	a := newAccount()
	for i := range 30 {
		if err := a.change(map[bool]types.ChangeSetType{true: types.ChangeSetTypeCreate, false: types.ChangeSetTypeUpdate}[i == 0], "CodePrefix=1/", fmt.Sprintf("JoinTime=%dm", i+4)); err != nil {
			t.Fatal(err)
		}
	}
	n, last := 0, a.now
	for in := (&cloudformation.DescribeStackEventsInput{StackName: aws.String("Rollcall")}); ; {
		out, err := a.DescribeStackEvents(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range out.StackEvents {
			if e.Timestamp.After(last) {
				t.Fatalf("event %d is newer than the one before", n)
			}
			last, n = *e.Timestamp, n+1
		}
		if in.NextToken = out.NextToken; in.NextToken == nil {
			break
		}
	}
	if n <= page {
		t.Errorf("%d events are one page", n)
	}
}
