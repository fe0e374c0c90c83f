// A filter is one object for all requests.
package shop;

import java.io.IOException;
import java.util.concurrent.atomic.LongAccumulator;
import javax.servlet.FilterChain;
import javax.servlet.ServletException;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

@Component
public class RequestTimer extends OncePerRequestFilter {
    private final LongAccumulator fastest = new LongAccumulator(Math::min, Long.MAX_VALUE);
    private long slowest;

    @Override
    protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
            throws ServletException, IOException {
        long begin = System.nanoTime();
        try {
            chain.doFilter(request, response);
        } finally {
            long took = System.nanoTime() - begin;
            fastest.accumulate(took); //~ no race: fastest
            if (took > slowest) {
                slowest = took; //~ unprotected-write: slowest
            }
            response.setHeader("X-Slowest", slowest + " " + fastest.get());
        }
    }
}
