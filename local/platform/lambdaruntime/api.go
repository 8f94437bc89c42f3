package lambdaruntime

import (
	"io"
	"net/http"
	"strconv"
)

// maxAnswer is the largest answer that Lambda takes: 6 MB, and some room for
// the runtime's own framing.
const maxAnswer = 6<<20 + 100<<10

// routes serves the four routes of the Runtime API to one process.
func (e *environment) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", e.next)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/response", func(w http.ResponseWriter, req *http.Request) {
		e.answer(w, req, false)
	})
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/error", func(w http.ResponseWriter, req *http.Request) {
		e.answer(w, req, true)
	})
	mux.HandleFunc("POST /2018-06-01/runtime/init/error", func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(io.LimitReader(req.Body, maxAnswer))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		select {
		case e.initFail <- body:
		default: // only the first counts
		}
		w.WriteHeader(http.StatusAccepted)
	})
	return mux
}

// next blocks until there is an event.
func (e *environment) next(w http.ResponseWriter, req *http.Request) {
	e.mu.Lock()
	if !e.started {
		e.started = true
		close(e.ready)
	} else if e.current != nil {
		select {
		case <-e.current.settled:
		default:
			close(e.current.settled)
		}
	}
	e.mu.Unlock()
	select {
	case work := <-e.work:
		h := w.Header()
		h.Set("Lambda-Runtime-Aws-Request-Id", work.id)
		h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(work.deadline.UnixMilli(), 10))
		h.Set("Lambda-Runtime-Invoked-Function-Arn", work.arn)
		h.Set("Content-Type", "application/json")
		// If the process is gone the write fails; run sees its end.
		_, _ = w.Write(work.event)
	case <-e.dead:
	case <-req.Context().Done():
	}
}

func (e *environment) answer(w http.ResponseWriter, req *http.Request, failed bool) {
	body, err := io.ReadAll(io.LimitReader(req.Body, maxAnswer+1))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	id := req.PathValue("id")
	e.mu.Lock()
	current := e.current
	e.mu.Unlock()
	if current == nil || current.id != id {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write(errorObject("InvalidRequestID", "%q is not the current request", id))
		return
	}
	out := outcome{payload: body, failed: failed}
	status := http.StatusAccepted
	if len(body) > maxAnswer {
		status = http.StatusRequestEntityTooLarge
		out = outcome{failed: true, payload: errorObject("Function.ResponseSizeTooLarge", "Response payload size exceeded maximum allowed payload size (6291556 bytes).")}
	}
	select {
	case current.done <- out:
	default: // answered twice: the first counts
	}
	w.WriteHeader(status)
}
