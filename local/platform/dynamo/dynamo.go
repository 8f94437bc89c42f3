// Package dynamo is the DynamoDB of the local stage and of the tests: as much of it
// as Rollcall uses, in this process and in memory. What it does not know it refuses,
// with the error code NotSimulated. A test holds it against dynalite, an emulator
// that others keep (package dynalite), with every operation and expression that
// Rollcall sends.
package dynamo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Server is a DynamoDB. It is an http.Handler, and safe for concurrent use: each
// call happens at once.
type Server struct {
	mu     sync.Mutex
	tables map[string]*table
}

// New makes one without tables.
func New() *Server { return &Server{tables: map[string]*table{}} }

// operation is a decoded request.
type operation interface {
	do(*Server) (any, error)
}

// operations are what it answers.
var operations = map[string]func() operation{
	"BatchGetItem":  func() operation { return &batchGetItem{} },
	"CreateTable":   func() operation { return &createTable{} },
	"DeleteItem":    func() operation { return &deleteItem{} },
	"DescribeTable": func() operation { return &describeTable{} },
	"ListTables":    func() operation { return &listTables{} },
	"PutItem":       func() operation { return &putItem{} },
	"Query":         func() operation { return &query{} },
	"Scan":          func() operation { return &scan{} },
}

// ServeHTTP answers a call in DynamoDB's protocol, AWS JSON 1.0. Signatures are
// looked at before.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out, err := s.call(r)
	status := http.StatusOK
	if err != nil {
		var no *refusal
		if !errors.As(err, &no) {
			no = &refusal{"SerializationException", err.Error()}
		}
		status = http.StatusBadRequest
		out = map[string]string{"__type": "com.amazonaws.dynamodb.v20120810#" + no.code, "message": no.message}
	}
	body, err := json.Marshal(out)
	if err != nil { // text and numbers: cannot happen
		status = http.StatusInternalServerError
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may be gone
}

func (s *Server) call(r *http.Request) (any, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	name := strings.TrimPrefix(r.Header.Get("X-Amz-Target"), "DynamoDB_20120810.")
	made, ok := operations[name]
	if !ok {
		return nil, unknown("the operation %s", name)
	}
	op := made()
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(op); err != nil {
		var no *refusal
		if !errors.As(err, &no) {
			err = unknown("this %s: %v", name, err)
		}
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return op.do(s)
}

// table is a table by its name. The lock is held.
func (s *Server) table(name string) (*table, error) {
	t, ok := s.tables[name]
	if !ok {
		return nil, &refusal{"ResourceNotFoundException", fmt.Sprintf("Requested resource not found: Table: %s not found", name)}
	}
	return t, nil
}

// RoundTrip answers a request without a connection.
func (s *Server) RoundTrip(r *http.Request) (*http.Response, error) {
	defer func() {
		if r.Body != nil {
			r.Body.Close()
		}
	}()
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Result(), nil
}

// Client is a client for it; region and credentials are of no matter.
func (s *Server) Client() *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region: "us-west-2", BaseEndpoint: aws.String("http://dynamodb.invalid"), HTTPClient: &http.Client{Transport: s},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "local", SecretAccessKey: "local"}, nil
		}),
	})
}

// CreateTable makes a table as the stack does, for tests that have no template to
// make it from.
func (s *Server) CreateTable(ctx context.Context, name string) error {
	_, err := s.Client().CreateTable(ctx, TableOfTheStack(name))
	if err != nil {
		return fmt.Errorf("create table %s: %w", name, err)
	}
	return nil
}
