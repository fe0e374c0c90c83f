// No annotation says so, but one interceptor sees all requests.
package shop;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.springframework.web.servlet.HandlerInterceptor;

public class Visits implements HandlerInterceptor {
    private final Map<String, Integer> visits = new ConcurrentHashMap<>();
    private String last;

    @Override
    public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
        visits.merge(request.getRemoteAddr(), 1, Integer::sum); //~ no container-race: visits
        if (request.getRemoteAddr().equals(last)) {
            response.setHeader("X-Again", "yes");
        }
        last = request.getRemoteAddr(); //~ unprotected-write: last
        return true;
    }
}
