// Package s3 is Amazon S3 as the stage needs it: objects that are made, read and listed in
// the buckets of the template, and that go when their days are over.
package s3

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"rollcall/stage/platform/template"
)

// Server answers S3's requests, one bucket and key in the path of each. Who may ask is
// judged before.
type Server struct {
	now func() time.Time

	mu      sync.Mutex
	buckets map[string]*bucket
}

type bucket struct {
	expireDays int
	encryption string
	objects    map[string]object
}

type object struct {
	body        []byte
	contentType string
	made        time.Time
}

// New makes the buckets of a template, empty.
func New(list []template.S3Bucket, now func() time.Time) *Server {
	s := &Server{now: now, buckets: map[string]*bucket{}}
	for _, b := range list {
		s.buckets[b.Name] = &bucket{b.ExpireDays, b.Encryption, map[string]object{}}
	}
	return s
}

// Remove takes a bucket away with all that is in it, as an operator may.
func (s *Server) Remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.buckets, name)
}

// Keys are those of a bucket's objects, sorted.
func (s *Server) Keys(name string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.buckets[name]; b != nil {
		b.expire(s.now())
		return slices.Sorted(maps.Keys(b.objects))
	}
	return nil
}

// Object is an object's body, nil where there is none.
func (s *Server) Object(name, key string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.buckets[name]; b != nil {
		b.expire(s.now())
		return b.objects[key].body
	}
	return nil
}

// mostBody is S3's largest object in one PUT, were it not for the stage's own bound.
const mostBody = 8 << 20

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	b := s.buckets[name]
	if b == nil {
		refuse(w, r, http.StatusNotFound, "NoSuchBucket", "The specified bucket does not exist")
		return
	}
	b.expire(s.now())
	switch {
	case key == "" && r.Method == http.MethodHead:
	case key == "":
		b.list(w, name, r)
	case r.Method == http.MethodPut:
		b.put(w, key, r, s.now())
	default:
		b.get(w, key, r)
	}
}

// expire deletes what is over: a lifecycle's days are counted from when an object was
// made, and end at the next midnight UTC (S3 user guide, "Lifecycle rules: based on an
// object's age").
func (b *bucket) expire(now time.Time) {
	if b.expireDays == 0 {
		return
	}
	const day = 24 * time.Hour
	maps.DeleteFunc(b.objects, func(_ string, o object) bool {
		over := o.made.UTC().Add(time.Duration(b.expireDays) * day)
		if midnight := over.Truncate(day); midnight.Before(over) {
			over = midnight.Add(day)
		}
		return !now.Before(over)
	})
}

// put makes an object. With If-None-Match: * it replaces none: 412 PreconditionFailed
// (S3 API reference, PutObject).
func (b *bucket) put(w http.ResponseWriter, key string, r *http.Request, now time.Time) {
	body, err := io.ReadAll(io.LimitReader(r.Body, mostBody+1))
	if err != nil || len(body) > mostBody {
		refuse(w, r, http.StatusBadRequest, "EntityTooLarge", "Your proposed upload exceeds the maximum allowed size")
		return
	}
	if sum := r.Header.Get("Content-MD5"); sum != "" {
		if is := md5.Sum(body); sum != base64.StdEncoding.EncodeToString(is[:]) {
			refuse(w, r, http.StatusBadRequest, "BadDigest", "The Content-MD5 you specified did not match what we received.")
			return
		}
	}
	switch condition := r.Header.Get("If-None-Match"); condition {
	case "":
	case "*":
		if _, there := b.objects[key]; there {
			refuse(w, r, http.StatusPreconditionFailed, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold")
			return
		}
	default:
		refuse(w, r, http.StatusNotImplemented, "NotImplemented", "A header you provided implies functionality that is not implemented")
		return
	}
	b.objects[key] = object{body, r.Header.Get("Content-Type"), now}
	w.Header().Set("ETag", etag(body))
	w.Header().Set("X-Amz-Server-Side-Encryption", b.encryption)
}

func (b *bucket) get(w http.ResponseWriter, key string, r *http.Request) {
	o, there := b.objects[key]
	if !there {
		refuse(w, r, http.StatusNotFound, "NoSuchKey", "The specified key does not exist.")
		return
	}
	h := w.Header()
	h.Set("Content-Type", o.contentType)
	h.Set("ETag", etag(o.body))
	h.Set("Last-Modified", o.made.UTC().Format(http.TimeFormat))
	h.Set("X-Amz-Server-Side-Encryption", b.encryption)
	if r.Method == http.MethodHead {
		h.Set("Content-Length", strconv.Itoa(len(o.body)))
		return
	}
	// The answer is kept in memory.
	_, _ = w.Write(o.body)
}

// list answers ListObjectsV2: one page, which is as long as there are objects.
func (b *bucket) list(w http.ResponseWriter, name string, r *http.Request) {
	type entry struct {
		Key          string
		LastModified string
		ETag         string
		Size         int
		StorageClass string
	}
	prefix := r.URL.Query().Get("prefix")
	answer := struct {
		XMLName     xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ ListBucketResult"`
		Name        string
		Prefix      string
		KeyCount    int
		MaxKeys     int
		IsTruncated bool
		Contents    []entry
	}{Name: name, Prefix: prefix, MaxKeys: 1000}
	for _, key := range slices.Sorted(maps.Keys(b.objects)) {
		if o := b.objects[key]; strings.HasPrefix(key, prefix) {
			answer.Contents = append(answer.Contents, entry{key, o.made.UTC().Format("2006-01-02T15:04:05.000Z"), etag(o.body), len(o.body), "STANDARD"})
		}
	}
	answer.KeyCount = len(answer.Contents)
	body, err := xml.Marshal(answer)
	if err != nil {
		refuse(w, r, http.StatusInternalServerError, "InternalError", err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/xml")
	_, _ = w.Write(body)
}

// etag is that of an object that was put in one part, and is encrypted with S3's own keys.
func etag(body []byte) string {
	sum := md5.Sum(body)
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

func refuse(w http.ResponseWriter, r *http.Request, status int, code, message string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return // an answer to HEAD has no body, and so no code
	}
	fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?>`+"\n<Error><Code>%s</Code><Message>%s</Message><RequestId>%s</RequestId></Error>", code, message, r.Header.Get("X-Amz-Date"))
}
