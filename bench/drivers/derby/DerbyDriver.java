import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;
import org.apache.derby.jdbc.EmbeddedDriver;

/** Two threads change and query one table of an embedded database, each over its own connection. */
public final class DerbyDriver {
    private static final String URL = "jdbc:derby:memory:bench;create=true";

    public static void main(String[] args) throws Exception {
        EmbeddedDriver driver = new EmbeddedDriver();
        try (Connection connection = driver.connect(URL, new Properties());
                Statement statement = connection.createStatement()) {
            statement.execute("create table account (id int primary key, balance bigint)");
            statement.execute("insert into account values (1, 100), (2, 100)");
        }
        Thread first = new Thread(() -> work(driver, 1));
        Thread second = new Thread(() -> work(driver, 2));
        first.start();
        second.start();
        first.join();
        second.join();
    }

    private static void work(EmbeddedDriver driver, int id) {
        try (Connection connection = driver.connect(URL, new Properties())) {
            connection.setAutoCommit(false);
            try (PreparedStatement update =
                            connection.prepareStatement("update account set balance = balance + 1 where id = ?");
                    PreparedStatement query =
                            connection.prepareStatement("select sum(balance) from account group by id")) {
                for (int i = 0; i < 10; i++) {
                    update.setInt(1, id);
                    update.executeUpdate();
                    connection.commit();
                }
                try (ResultSet rows = query.executeQuery()) {
                    while (rows.next()) {
                        System.out.println(rows.getLong(1));
                    }
                }
            }
            connection.rollback();
        } catch (SQLException e) {
            e.printStackTrace();
        }
    }
}
